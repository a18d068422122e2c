// Words that the devices of ranks read from each other's memory.
//
// A rank writes the words that it gives to its window and announces them to the other ranks; it waits until all ranks have
// announced theirs and reads them from their windows. A window has two halves, which exchanges use in turn: a rank that
// announces exchange n has read all windows of exchange n - 1, so that the half of exchange n - 1 may be written in exchange
// n + 1. All blocks run at once, since they wait for each other. The state of a rank begins with the number of its exchanges
// and the number of blocks that have written; then follow the exchanges that the other ranks have announced.

typedef unsigned int word;
typedef unsigned long long number;

#define ANNOUNCED(rank) (32 + 8 * (rank))

// Entries of a vector that this rank gives or takes.
struct Side {
    // Entries of a component from one to the next.
    number stride;
    // Whether entries are listed; else they begin at `first`. What is taken is written from entry `first` on.
    number listed, first;
    // Their number.
    number entries;
};

// What an exchange moves of a vector or of one and another.
struct Part {
    Side given, taken;
    // Components, words of an entry, and the entries of each rank that are moved.
    number components, words, low, high;
    // First word in half a window.
    number offset;
    // First entry of each rank among those of all.
    number starts[17];
};

struct Message {
    // Words of half a window; this rank, number of ranks, a word of the host that is not 0 once a rank has failed.
    number half, rank, ranks, failed;
    // Windows and states of all ranks.
    number windows[16], states[16];
    number count;
    Part parts[4];
};

// Place of a piece of an entry; `size` pieces are an entry of a component.
__device__ number place_of(const Side& side, word size, number entry, word rest)
{
    return (rest / size * side.stride + entry) * size + rest % size;
}

// Entries of a rank with so many of them that are moved, from `low` on.
__device__ word moved(const Part& part, number entries)
{
    const number high = part.high < entries ? part.high : entries;
    return part.low < high ? high - part.low : 0;
}

__device__ void announce(const Message& m, word exchange)
{
    __threadfence_system();
    if (threadIdx.x >= m.ranks) return;
    volatile word* state = (volatile word*)m.states[threadIdx.x];
    state[threadIdx.x == m.rank ? 0 : ANNOUNCED(m.rank)] = exchange;
}

__device__ void wait_for_all(const Message& m, word exchange)
{
    if (threadIdx.x < m.ranks) {
        volatile word* state = (volatile word*)m.states[m.rank];
        volatile word* announced = state + (threadIdx.x == m.rank ? 0 : ANNOUNCED(threadIdx.x));
        volatile word* failed = (volatile word*)m.failed;
        // A rank that has failed announces nothing: the host looks after that.
        for (word looks = 1; (int)(*announced - exchange) < 0; looks++) {
            if (looks % 1024 == 0 && *failed != 0) break;
        }
        __threadfence_system();
    }
    __syncthreads();
}

// Pieces are words, or pairs of words where entries have an even number of them.
template <typename Piece>
__device__ void put(const Piece* from, const word* places, const Part& part, word* window)
{
    const word size = part.words * sizeof(word) / sizeof(Piece), each = size * part.components;
    const word count = moved(part, part.given.entries) * each;
    Piece* pieces = (Piece*)(window + part.offset);
    for (word i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const number entry = part.low + i / each;
        const number place = part.given.listed ? places[entry] : part.given.first + entry;
        pieces[i] = from[place_of(part.given, size, place, i % each)];
    }
}

template <typename Piece>
__device__ void take(Piece* to, const word* sources, const Part& part, const Message& m, number half)
{
    const word size = part.words * sizeof(word) / sizeof(Piece), each = size * part.components;
    const word begin = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    if (part.taken.listed) {
        for (word i = begin, count = part.taken.entries * each; i < count; i += step) {
            const number source = sources[i / each];
            word rank = 0;
            while (source >= part.starts[rank + 1]) rank++;
            const number at = source - part.starts[rank];
            if (at < part.low || at >= part.high) continue;
            const Piece* pieces = (const Piece*)((const word*)m.windows[rank] + half + part.offset);
            const number place = part.taken.first + i / each;
            to[place_of(part.taken, size, place, i % each)] = pieces[(at - part.low) * each + i % each];
        }
    } else {
        for (word rank = 0; rank < m.ranks; rank++) {
            const Piece* pieces = (const Piece*)((const word*)m.windows[rank] + half + part.offset);
            const word count = moved(part, part.starts[rank + 1] - part.starts[rank]) * each;
            for (word i = begin; i < count; i += step) {
                const number place = part.taken.first + part.starts[rank] + part.low + i / each;
                to[place_of(part.taken, size, place, i % each)] = pieces[i];
            }
        }
    }
}

extern "C" __global__ void exchange(const word* from0, const word* places0, word* to0, const word* sources0,
                                    const word* from1, const word* places1, word* to1, const word* sources1,
                                    const word* from2, const word* places2, word* to2, const word* sources2,
                                    const word* from3, const word* places3, word* to3, const word* sources3,
                                    const Message m)
{
    const word* from[4] = {from0, from1, from2, from3};
    const word* places[4] = {places0, places1, places2, places3};
    word* to[4] = {to0, to1, to2, to3};
    const word* sources[4] = {sources0, sources1, sources2, sources3};
    word* state = (word*)m.states[m.rank];
    const word exchanges = *(volatile word*)state;
    const number half = (exchanges & 1) * m.half;
    word* window = (word*)m.windows[m.rank] + half;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (k >= m.count) break;
        const Part& part = m.parts[k];
        if (part.words % 2 == 0)
            put((const number*)from[k], places[k], part, window);
        else
            put(from[k], places[k], part, window);
    }
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        is_last = atomicAdd(state + 1, 1u) == gridDim.x - 1;
        if (is_last) state[1] = 0;
    }
    __syncthreads();
    if (is_last) announce(m, exchanges + 1);
    wait_for_all(m, exchanges + 1);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (k >= m.count) break;
        const Part& part = m.parts[k];
        if (part.words % 2 == 0)
            take((number*)to[k], sources[k], part, m, half);
        else
            take(to[k], sources[k], part, m, half);
    }
}
