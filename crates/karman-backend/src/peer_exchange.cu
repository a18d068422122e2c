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

struct Message {
    Side given, taken;
    // Components, words of an entry, and the entries of each rank that this exchange moves.
    number components, words, low, high;
    // Words of half a window; this rank, number of ranks, a word of the host that is not 0 once a rank has failed.
    number half, rank, ranks, failed;
    // First entry of each rank among those of all; windows and states of all ranks.
    number starts[17], windows[16], states[16];
};

// Place of a part of an entry; `size` parts are an entry of a component.
__device__ number place_of(const Side& side, word size, number entry, word rest)
{
    return (rest / size * side.stride + entry) * size + rest % size;
}

// Entries of a rank with so many of them that this exchange moves, from `low` on.
__device__ word moved(const Message& m, number entries)
{
    const number high = m.high < entries ? m.high : entries;
    return m.low < high ? high - m.low : 0;
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

// By words, or by pairs of words where entries have an even number of them.
template <typename Part>
__device__ void exchange_parts(const Part* from, const word* places, Part* to, const word* sources, const Message& m)
{
    word* state = (word*)m.states[m.rank];
    const word exchanges = *(volatile word*)state;
    const number half = (exchanges & 1) * (m.half * sizeof(word) / sizeof(Part));
    const word size = m.words * sizeof(word) / sizeof(Part), each = size * m.components;
    const word begin = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;

    Part* window = (Part*)m.windows[m.rank] + half;
    for (word i = begin, count = moved(m, m.given.entries) * each; i < count; i += step) {
        const number entry = m.low + i / each;
        const number place = m.given.listed ? places[entry] : m.given.first + entry;
        window[i] = from[place_of(m.given, size, place, i % each)];
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

    if (m.taken.listed) {
        for (word i = begin, count = m.taken.entries * each; i < count; i += step) {
            const number source = sources[i / each];
            word rank = 0;
            while (source >= m.starts[rank + 1]) rank++;
            const number at = source - m.starts[rank];
            if (at < m.low || at >= m.high) continue;
            const Part* of_rank = (const Part*)m.windows[rank] + half;
            const number place = m.taken.first + i / each;
            to[place_of(m.taken, size, place, i % each)] = of_rank[(at - m.low) * each + i % each];
        }
    } else {
        for (word rank = 0; rank < m.ranks; rank++) {
            const Part* of_rank = (const Part*)m.windows[rank] + half;
            const word count = moved(m, m.starts[rank + 1] - m.starts[rank]) * each;
            for (word i = begin; i < count; i += step) {
                const number place = m.taken.first + m.starts[rank] + m.low + i / each;
                to[place_of(m.taken, size, place, i % each)] = of_rank[i];
            }
        }
    }
}

extern "C" __global__ void exchange(const word* from, const word* places, word* to, const word* sources, const Message m)
{
    if (m.words % 2 == 0)
        exchange_parts((const number*)from, places, (number*)to, sources, m);
    else
        exchange_parts(from, places, to, sources, m);
}
