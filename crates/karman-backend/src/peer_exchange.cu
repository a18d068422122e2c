// Words that the devices of ranks read from each other's memory.
//
// An exchange is two launches. `put` writes the words that this rank gives to its window and then announces them to the
// other ranks; `take` waits until all ranks have announced theirs and reads them from their windows. A window has two
// halves, which exchanges use in turn: a rank that announces exchange n has read all windows of exchange n - 1, so that the
// half of exchange n - 1 may be written in exchange n + 1. The state of a rank begins with the number of its exchanges and
// the number of blocks that have written; then follow the exchanges that the other ranks have announced.

typedef unsigned int word;
typedef unsigned long long number;

#define ANNOUNCED(rank) (32 + 8 * (rank))

struct Message {
    // Entries of a component from one to the next, components, words of an entry.
    number stride, components, words;
    // Whether entries are listed; else they begin at `first`. What is taken is written from entry `first` on.
    number listed, first;
    // Number of entries that this rank gives or takes; those of each rank that this exchange moves.
    number entries, low, high;
    // Words of half a window; this rank, number of ranks, a word of the host that is not 0 once a rank has failed.
    number half, rank, ranks, failed;
    // First entry of each rank among those of all; windows and states of all ranks.
    number starts[17], windows[16], states[16];
};

__device__ number place_of(const Message& m, number entry, number rest)
{
    return (rest / m.words * m.stride + entry) * m.words + rest % m.words;
}

extern "C" __global__ void put(const word* vector, const word* places, const Message m)
{
    word* state = (word*)m.states[m.rank];
    const word exchange = *(volatile word*)state;
    word* half = (word*)m.windows[m.rank] + (exchange & 1) * m.half;
    const number each = m.words * m.components;
    const number high = m.high < m.entries ? m.high : m.entries;
    const number count = m.low < high ? (high - m.low) * each : 0;
    const number step = (number)gridDim.x * blockDim.x;
    for (number i = (number)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const number entry = m.low + i / each;
        half[i] = vector[place_of(m, m.listed ? places[entry] : m.first + entry, i % each)];
    }
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(state + 1, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!is_last) return;
    if (threadIdx.x == 0) {
        state[1] = 0;
        *(volatile word*)state = exchange + 1;
    }
    __threadfence_system();
    if (threadIdx.x < m.ranks && threadIdx.x != m.rank) {
        volatile word* of_peer = (volatile word*)m.states[threadIdx.x];
        of_peer[ANNOUNCED(m.rank)] = exchange + 1;
    }
}

extern "C" __global__ void take(word* vector, const word* sources, const Message m)
{
    word* state = (word*)m.states[m.rank];
    const word exchange = *(volatile word*)state;
    if (threadIdx.x < m.ranks && threadIdx.x != m.rank) {
        volatile word* announced = state + ANNOUNCED(threadIdx.x);
        volatile word* failed = (volatile word*)m.failed;
        // A rank that has failed announces nothing: the host looks after that.
        for (word looks = 1; (int)(*announced - exchange) < 0; looks++) {
            if (looks % 1024 == 0 && *failed != 0) break;
        }
        __threadfence_system();
    }
    __syncthreads();
    const number half = ((exchange - 1) & 1) * m.half;
    const number each = m.words * m.components;
    const number begin = (number)blockIdx.x * blockDim.x + threadIdx.x;
    const number step = (number)gridDim.x * blockDim.x;
    if (m.listed) {
        for (number i = begin; i < m.entries * each; i += step) {
            const number entry = i / each, source = sources[entry];
            number rank = 0;
            while (source >= m.starts[rank + 1]) rank++;
            const number at = source - m.starts[rank];
            if (at < m.low || at >= m.high) continue;
            const word* window = (const word*)m.windows[rank] + half;
            vector[place_of(m, m.first + entry, i % each)] = window[(at - m.low) * each + i % each];
        }
    } else {
        for (number rank = 0; rank < m.ranks; rank++) {
            const word* window = (const word*)m.windows[rank] + half;
            const number own = m.starts[rank + 1] - m.starts[rank];
            const number high = m.high < own ? m.high : own;
            const number count = m.low < high ? (high - m.low) * each : 0;
            for (number i = begin; i < count; i += step) {
                const number entry = m.starts[rank] + m.low + i / each;
                vector[place_of(m, m.first + entry, i % each)] = window[i];
            }
        }
    }
}
