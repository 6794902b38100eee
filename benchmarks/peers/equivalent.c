/* The square game for two players as a C program: an estimate of the fastest possible random games.
 *
 * It implements the complete rules; numbers in parentheses refer to the game's rules page. The program shares only
 * the action ids and the random numbers with the package, so that `python -m benchmarks.peers` can compare games
 * move by move before measuring: equal generator states give the games that the package plays.
 *
 *     equivalent show STATE...    print a game from each generator state: its moves, its points, its board
 *     equivalent serve STATE      print the compiler version; then, for each line with a number of games, play them
 *                                 and print the number of moves, the CPU seconds and the wall-clock seconds
 *
 * There are 128 slots for a tile, so the free ones are two words of 64 bits. Placing a tile clears bits, and the
 * n-th free slot is found by counting bits.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __BMI2__
#include <immintrin.h>
#endif

#ifndef CAP /* tests lower these two constants, which random games seldom reach */
#define CAP 18
#endif
#ifndef PYRAMIDS
#define PYRAMIDS 20
#endif

enum { SIDE = 9, COLOURS = 5, HAND = 5, KINDS = 15, SLOTS = 128 };
enum { WIDE = SIDE + 2, EMPTY = 6, PYRAMID = 7, SPENT = 8, EDGE = 5 };
enum { EXCHANGE = SLOTS * COLOURS * COLOURS, REFILL };

#define BYTES UINT64_C(0x0101010101010101)
#define HIGH (0x80 * BYTES)
#define NO_TILES (0x7f * BYTES)
#define ALL_AT_CAP UINT64_C(0x8080808080)
#define INLINE static inline __attribute__((always_inline))

/* A slot, in one cache line. The window consists of four rows of the board with sixteen bits each, starting with the
 * row below the slot. */
typedef struct {
    uint64_t keep[2];        /* the slots that stay free when a tile is placed here */
    uint64_t tile, around;   /* its two cells and the six adjacent ones, in the window */
    uint8_t xa, ya, xb, yb;
    uint8_t a, b;            /* the cells, as indices of `cells` */
    uint8_t touches;         /* the adjacent printed symbols, as bits (5) */
    uint8_t beside[8];       /* the adjacent cells in the order in which pyramids are set, as bits of the window */
} __attribute__((aligned(64))) Slot;

typedef struct {
    uint64_t free[2];               /* the free slots */
    uint64_t bag[2];                /* sixteen bytes: cumulative counts of the kinds of tiles */
    uint64_t hand[2];               /* a byte for each tile, sorted: 8 times the one colour plus the other */
    uint64_t points[2];             /* a byte for each colour */
    uint64_t full[2];               /* 0x80 for each colour at the cap */
    uint16_t empty[SIDE + 7];       /* the empty cells by row, starting at row -2 */
    uint16_t rows[COLOURS + 1][SIDE], columns[COLOURS + 1][SIDE]; /* the cells of each colour */
    uint8_t cells[WIDE * WIDE];
    uint8_t order[PYRAMIDS];        /* the cells of pyramids, the oldest overwritten */
    uint8_t held[2], begun[2], claimed;
    int32_t in_bag, pyramids;
} State;

static Slot slots[SLOTS];
static State opening;
static uint8_t runs[1 << SIDE][16];     /* symbols in unbroken runs on both sides of a cell in a row */
static uint64_t from[KINDS][2];         /* 1 in the bytes of a kind and of all later kinds */
static uint8_t code_of[KINDS], kind_of[128], shows[128];
static uint64_t suitable[32][2];        /* by claimed symbols: the slots for a first tile */

/* Return a random number below n. */
INLINE uint32_t randint(uint64_t *rng, uint32_t n) {
    uint64_t x = *rng;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *rng = x;
    return (uint32_t)(((x >> 32) * n) >> 32);
}

/* Return the index of the n-th set bit. */
INLINE uint32_t nth_bit(uint64_t word, uint32_t n) {
#ifdef __BMI2__
    return (uint32_t)__builtin_ctzll(_pdep_u64(UINT64_C(1) << n, word));
#else
    while (n--)
        word &= word - 1;
    return (uint32_t)__builtin_ctzll(word);
#endif
}

INLINE uint32_t nth_of(uint64_t first, uint64_t second, uint32_t n) {
    uint32_t in_first = (uint32_t)__builtin_popcountll(first);
    uint32_t later = n >= in_first;
    return 64 * later + nth_bit(later ? second : first, later ? n - in_first : n);
}

/* Draw a uniformly random tile from the bag into a hand. */
INLINE void draw(State *s, uint32_t seat, uint64_t *rng) {
    uint64_t nth = (randint(rng, (uint32_t)s->in_bag) * BYTES) | HIGH;
    uint32_t kind = (uint32_t)(__builtin_popcountll((nth - s->bag[0]) & HIGH) +
                               __builtin_popcountll((nth - s->bag[1]) & HIGH));
    s->bag[0] -= from[kind][0];
    s->bag[1] -= from[kind][1];
    s->in_bag--;
    uint64_t hand = s->hand[seat], code = code_of[kind];
    uint64_t not_below = ((hand | HIGH) - code * BYTES) & HIGH;
    uint64_t before = ((not_below & -not_below) >> 7) - 1; /* all bits of the bytes before the first of them */
    s->hand[seat] = (hand & before) | ((hand & ~before) << 8) | (code * (before + 1));
    s->held[seat]++;
}

/* Set a pyramid on each isolated cell and return the points (7). */
static __attribute__((noinline)) uint64_t set_pyramids(State *s, const Slot *p, uint64_t shut) {
    uint64_t gain = 0;
    for (int n = 0; n < 8; n++) {
        if (!(shut >> p->beside[n] & 1))
            continue;
        uint32_t row = p->ya - 1u + p->beside[n] / 16, column = p->beside[n] % 16u;
        uint32_t cell = (row + 1) * WIDE + column + 1, at = (uint32_t)s->pyramids % PYRAMIDS;
        if (s->pyramids >= PYRAMIDS) /* none left: the oldest one moves (8) */
            s->cells[s->order[at]] = SPENT;
        s->cells[cell] = PYRAMID;
        s->order[at] = (uint8_t)cell;
        s->pyramids++;
        gain += (UINT64_C(1) << 8 * s->cells[cell + 1]) + (UINT64_C(1) << 8 * s->cells[cell - 1]) +
                (UINT64_C(1) << 8 * s->cells[cell + WIDE]) + (UINT64_C(1) << 8 * s->cells[cell - WIDE]);
    }
    return gain & UINT64_C(0xffffffffff); /* the edge is no colour */
}

/* A hand without any of the lowest colours may be exchanged if the bag has enough tiles (12). */
INLINE int may_exchange(const State *s, uint32_t seat) {
    uint64_t hand = s->hand[seat], points = s->points[seat];
    uint32_t shown = 0;
    for (int i = 0; i < HAND; i++)
        shown |= shows[hand >> 8 * i & 127];
    if (shown == (1 << COLOURS) - 1 || s->in_bag < HAND || s->held[seat] == 0)
        return 0;
    uint32_t lowest_shown = 255, lowest_missing = 255;
    for (int colour = 0; colour < COLOURS; colour++) {
        uint32_t score = points >> 8 * colour & 255, is_shown = shown >> colour & 1;
        uint32_t if_shown = is_shown ? score : 255, if_missing = is_shown ? 255 : score;
        lowest_shown = if_shown < lowest_shown ? if_shown : lowest_shown;
        lowest_missing = if_missing < lowest_missing ? if_missing : lowest_missing;
    }
    return lowest_missing < lowest_shown;
}

/* Show the hand, draw a new one, then return the shown tiles to the bag (12). */
static __attribute__((noinline)) void exchange(State *s, uint32_t seat, uint64_t *rng) {
    uint64_t shown = s->hand[seat];
    uint32_t held = s->held[seat];
    s->hand[seat] = NO_TILES;
    s->held[seat] = 0;
    for (int i = 0; i < HAND; i++)
        draw(s, seat, rng);
    for (uint32_t i = 0; i < held; i++) {
        uint32_t kind = kind_of[shown >> 8 * i & 127];
        s->bag[0] += from[kind][0];
        s->bag[1] += from[kind][1];
    }
    s->in_bag += (int32_t)held;
}

/* Play a whole game of uniformly random moves and return the number of moves. */
INLINE uint64_t play(State *s, uint64_t *state, int traced) {
    uint64_t rng = *state, moves = 0;
    uint32_t seat = 0, extra = 0;
    memcpy(s, &opening, sizeof opening);
    for (uint32_t dealt = 0; dealt < 2; dealt++)
        for (int i = 0; i < HAND; i++)
            draw(s, dealt, &rng);
    for (;;) {
        uint32_t n = (uint32_t)(__builtin_popcountll(s->free[0]) + __builtin_popcountll(s->free[1]));
        uint32_t held = s->held[seat], slot;
        if (n == 0 || held == 0) /* no room, or nothing to place (14) */
            break;
        if (__builtin_expect(!s->begun[seat], 0)) { /* a first tile, at a symbol of its own (5) */
            uint64_t first = s->free[0] & suitable[s->claimed][0], second = s->free[1] & suitable[s->claimed][1];
            uint32_t fit = (uint32_t)(__builtin_popcountll(first) + __builtin_popcountll(second));
            slot = nth_of(first, second, randint(&rng, fit));
            s->begun[seat] = 1;
            s->claimed |= slots[slot].touches;
        } else {
            slot = nth_of(s->free[0], s->free[1], randint(&rng, n));
        }
        uint64_t hand = s->hand[seat];
        uint32_t at, one, other, code;
        for (;;) { /* until it is neither a duplicate of the previous tile nor a rotated double */
            uint32_t r = randint(&rng, 2 * held);
            at = 8 * (r >> 1);
            code = hand >> at & 127;
            one = code >> 3, other = code & 7;
            uint32_t previous = hand << 8 >> at & 127; /* 0 for the first tile, although 0 is also a tile */
            if ((at == 0 || previous != code) && !(r & 1 && one == other)) {
                if (r & 1) {
                    uint32_t swapped = one;
                    one = other;
                    other = swapped;
                }
                break;
            }
        }
        const Slot *p = &slots[slot];
        if (traced)
            printf(" %u", (slot * COLOURS + one) * COLOURS + other);
        moves++;

        /* Both halves score along their lines (6); the other half is still empty. */
        uint64_t points_a = runs[s->rows[one][p->ya]][p->xa] + runs[s->columns[one][p->xa]][p->ya];
        uint64_t points_b = runs[s->rows[other][p->yb]][p->xb] + runs[s->columns[other][p->xb]][p->yb];
        uint64_t gain = (points_a << 8 * one) + (points_b << 8 * other);

        uint64_t before = (UINT64_C(1) << at) - 1;
        s->hand[seat] = (hand & before) | (hand >> 8 & ~before) | UINT64_C(0x7f) << 56;
        s->held[seat] = (uint8_t)(held - 1);
        s->rows[one][p->ya] |= (uint16_t)(1u << p->xa);
        s->columns[one][p->xa] |= (uint16_t)(1u << p->ya);
        s->rows[other][p->yb] |= (uint16_t)(1u << p->xb);
        s->columns[other][p->xb] |= (uint16_t)(1u << p->yb);
        s->cells[p->a] = (uint8_t)one;
        s->cells[p->b] = (uint8_t)other;
        s->free[0] &= p->keep[0];
        s->free[1] &= p->keep[1];
        /* The empty cells next to the tile that have no empty neighbour now (7). */
        uint64_t window, above, under;
        memcpy(&under, &s->empty[p->ya], 8);
        memcpy(&window, &s->empty[p->ya + 1], 8);
        memcpy(&above, &s->empty[p->ya + 2], 8);
        window &= ~p->tile;
        above &= ~(p->tile >> 16);
        under &= ~(p->tile << 16);
        memcpy(&s->empty[p->ya + 1], &window, 8);
        uint64_t shut = window & ~(window << 1 | window >> 1 | above | under) & p->around;
        if (shut)
            gain += set_pyramids(s, p, shut);

        /* Points up to the cap (9), and the colours that reach it (10). */
        uint64_t points = s->points[seat] + gain;
        uint64_t full = (points + (128 - CAP) * BYTES) & ALL_AT_CAP;
        if (full) {
            uint64_t over = full | (full - (full >> 7)); /* all bits of the bytes at the cap or beyond */
            points = (points & ~over) | (CAP * BYTES & over);
        }
        s->points[seat] = points;
        if (full != s->full[seat]) {
            extra += (uint32_t)__builtin_popcountll(full ^ s->full[seat]);
            s->full[seat] = full;
            if (full == ALL_AT_CAP) /* the cap in every colour wins at once (11) */
                break;
        }
        if (extra > 0) {
            extra--;
            continue;
        }
        int kept = 1;
        if (__builtin_expect(may_exchange(s, seat), 0)) {
            kept = (int)randint(&rng, 2);
            moves++;
            if (traced)
                printf(" %d", kept ? REFILL : EXCHANGE);
            if (!kept)
                exchange(s, seat, &rng);
        }
        if (kept) /* refill the hand, as far as the bag has tiles (13) */
            while (s->held[seat] < HAND && s->in_bag > 0)
                draw(s, seat, &rng);
        seat ^= 1;
    }
    *state = rng;
    return moves;
}

/* ---------------------------------------------------------------- constants */

static uint32_t run_from(uint32_t bits, int x, int step) {
    uint32_t length = 0;
    for (x += step; x >= 0 && x < SIDE && bits >> x & 1; x += step)
        length++;
    return length;
}

static void make_constants(void) {
    static const int dx[4] = {1, 0, -1, 0}, dy[4] = {0, 1, 0, -1};
    static const struct { int x, y, colour; } printed[5] = {
        {4, 4, 4}, {4, 8, 0}, {8, 4, 1}, {4, 0, 2}, {0, 4, 3}};
    int symbol[SIDE][SIDE], number[SIDE][SIDE][4], count = 0;
    memset(symbol, -1, sizeof symbol);
    memset(number, -1, sizeof number);
    for (uint32_t bits = 0; bits < 1u << SIDE; bits++)
        for (int x = 0; x < SIDE; x++)
            runs[bits][x] = (uint8_t)(run_from(bits, x, 1) + run_from(bits, x, -1));
    memset(opening.cells, EDGE, sizeof opening.cells);
    for (int y = 0; y < SIDE; y++) {
        opening.empty[y + 2] = (1 << SIDE) - 1;
        for (int x = 0; x < SIDE; x++)
            opening.cells[(y + 1) * WIDE + x + 1] = EMPTY;
    }
    for (int i = 0; i < 5; i++) {
        int x = printed[i].x, y = printed[i].y, colour = printed[i].colour;
        symbol[y][x] = i;
        opening.cells[(y + 1) * WIDE + x + 1] = (uint8_t)colour;
        opening.empty[y + 2] &= (uint16_t)~(1u << x);
        opening.rows[colour][y] |= (uint16_t)(1u << x);
        opening.columns[colour][x] |= (uint16_t)(1u << y);
    }
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            for (int d = 0; d < 2; d++) {
                int u = x + dx[d], v = y + dy[d];
                if (u >= SIDE || v >= SIDE || symbol[y][x] >= 0 || symbol[v][u] >= 0)
                    continue;
                Slot *p = &slots[count];
                p->xa = (uint8_t)x, p->ya = (uint8_t)y, p->xb = (uint8_t)u, p->yb = (uint8_t)v;
                p->a = (uint8_t)((y + 1) * WIDE + x + 1), p->b = (uint8_t)((v + 1) * WIDE + u + 1);
                number[y][x][d] = number[v][u][d + 2] = count++;
            }
    if (count != SLOTS)
        abort();
    for (int n = 0; n < SLOTS; n++) {
        Slot *p = &slots[n];
        int xs[2] = {p->xa, p->xb}, ys[2] = {p->ya, p->yb};
        p->keep[0] = p->keep[1] = ~UINT64_C(0);
        for (int half = 0; half < 2; half++) {
            p->tile |= UINT64_C(1) << ((ys[half] - p->ya + 1) * 16 + xs[half]);
            for (int d = 0; d < 4; d++) {
                int u = xs[half] + dx[d], v = ys[half] + dy[d], taken = number[ys[half]][xs[half]][d];
                p->beside[2 * d + half] = 15; /* outside the board: a bit that is never set */
                if (u >= 0 && u < SIDE && v >= 0 && v < SIDE) {
                    p->beside[2 * d + half] = (uint8_t)((v - p->ya + 1) * 16 + u);
                    p->around |= UINT64_C(1) << p->beside[2 * d + half];
                    if (symbol[v][u] >= 0)
                        p->touches |= (uint8_t)(1 << symbol[v][u]);
                }
                if (taken >= 0)
                    p->keep[taken / 64] &= ~(UINT64_C(1) << taken % 64);
            }
        }
        for (uint32_t claimed = 0; claimed < 32; claimed++)
            if (p->touches & ~claimed)
                suitable[claimed][n / 64] |= UINT64_C(1) << n % 64;
    }
    opening.free[0] = opening.free[1] = ~UINT64_C(0);
    opening.hand[0] = opening.hand[1] = NO_TILES;
    int kind = 0;
    for (int one = 0; one < COLOURS; one++)
        for (int other = one; other < COLOURS; other++, kind++) {
            int code = 8 * one + other, tiles = one == other ? 4 : 8;
            code_of[kind] = (uint8_t)code;
            kind_of[code] = (uint8_t)kind;
            shows[code] = (uint8_t)(1 << one | 1 << other);
            for (int byte = kind; byte < 16; byte++)
                from[kind][byte / 8] |= UINT64_C(1) << 8 * (byte % 8);
            opening.bag[0] += (uint64_t)tiles * from[kind][0];
            opening.bag[1] += (uint64_t)tiles * from[kind][1];
            opening.in_bag += tiles;
        }
}

/* ---------------------------------------------------------------- commands */

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void show(State *s, uint64_t state) {
    play(s, &state, 1);
    printf(" |");
    for (int seat = 0; seat < 2; seat++)
        for (int colour = 0; colour < COLOURS; colour++)
            printf(" %u", (unsigned)(s->points[seat] >> 8 * colour & 255));
    printf(" | ");
    for (int y = 1; y <= SIDE; y++)
        for (int x = 1; x <= SIDE; x++)
            putchar("01234#.^x"[s->cells[y * WIDE + x]]);
    putchar('\n');
}

int main(int count, char **words) {
    static State s;
    make_constants();
    if (count > 2 && !strcmp(words[1], "show")) {
        for (int i = 2; i < count; i++)
            show(&s, strtoull(words[i], NULL, 10));
        return 0;
    }
    if (count == 3 && !strcmp(words[1], "serve")) {
        uint64_t state = strtoull(words[2], NULL, 10);
        long games;
        puts("C " __VERSION__);
        fflush(stdout);
        while (scanf("%ld", &games) == 1) {
            double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
            uint64_t moves = 0;
            while (games-- > 0)
                moves += play(&s, &state, 0);
            cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
            printf("%llu %.9f %.9f\n", (unsigned long long)moves, cpu, seconds(CLOCK_MONOTONIC) - wall);
            fflush(stdout);
        }
        return 0;
    }
    fputs("equivalent show STATE... | equivalent serve STATE\n", stderr);
    return 2;
}
