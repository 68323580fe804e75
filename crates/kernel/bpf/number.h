/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Integers as in `crates/units`: bytes, bytes per second, nanoseconds, and exact ratios. Sums and products saturate.
 * Every result equals the twin's, to the last bit. BPF has no 128-bit integers, so large products are computed in
 * halves.
 */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
typedef _Bool bool;

#define UNUSED __attribute__((unused))

/*
 * A function that the kernel's verifier checks once, and not again at each call with every possible history. Such a
 * function returns a number, and its pointers may be null.
 */
#define SEPARATE __attribute__((noinline))

#define false 0
#define true 1

#define U32_MAX (~0U)
#define U64_MAX (~0ULL)
#define NANOS_PER_SEC 1000000000ULL
#define NANOS_PER_MICRO 1000ULL
#define MILLIS(ms) ((ms) * 1000000ULL)

/* Numerator and denominator in one word, because BPF passes no structures. The denominator, in the upper half, is never zero. */
typedef u64 ratio;

#define RATIO(numerator, denominator) ((ratio)(denominator) << 32 | (numerator))
#define ONE RATIO(1, 1)

static inline u64 numerator(ratio ratio)
{
	return (u32)ratio;
}

static inline u64 denominator(ratio ratio)
{
	return ratio >> 32;
}

static inline u64 min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 add(u64 a, u64 b)
{
	return a + b < a ? U64_MAX : a + b;
}

static inline u64 sub(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

/* The upper half of a 128-bit product. */
static inline u64 product_high(u64 a, u64 b)
{
	u64 a_low = (u32)a, a_high = a >> 32;
	u64 b_low = (u32)b, b_high = b >> 32;
	u64 low = a_low * b_low;
	u64 middle = a_high * b_low + (low >> 32);
	u64 rest = a_low * b_high + (u32)middle;

	return a_high * b_high + (middle >> 32) + (rest >> 32);
}

static inline u64 times(u64 a, u64 b)
{
	return product_high(a, b) ? U64_MAX : a * b;
}

/* Divides 128 bits by 64 if the quotient fits 64 bits. It works bit by bit, because it is rarely needed. */
SEPARATE u64 divide_wide(u64 high, u64 low, u64 divisor)
{
	for (int bit = 0; bit < 64; bit++) {
		bool carry = high >> 63;

		high = high << 1 | low >> 63;
		low <<= 1;
		if (carry || high >= divisor) {
			high -= divisor;
			low |= 1;
		}
	}
	return low;
}

/* a × b / divisor, rounded down, or U64_MAX if that is too large. The divisor must not be zero. */
SEPARATE u64 multiply_divide(u64 a, u64 b, u64 divisor)
{
	u64 high = product_high(a, b);

	if (!high)
		return a * b / divisor;
	if (high >= divisor)
		return U64_MAX;
	return divide_wide(high, a * b, divisor);
}

static inline u64 scale(u64 value, ratio by)
{
	return multiply_divide(value, numerator(by), denominator(by));
}

/* Whether a < b. */
static inline bool is_less(ratio a, ratio b)
{
	return numerator(a) * denominator(b) < numerator(b) * denominator(a);
}

/* The time from `earlier` to `now`, or zero if `earlier` is later. */
static inline u64 since(u64 now, u64 earlier)
{
	return sub(now, earlier);
}

/* The rate of `bytes` in `span`. */
static inline u64 rate_of(u64 bytes, u64 span)
{
	if (!bytes)
		return 0;
	if (!span)
		return U64_MAX;
	return multiply_divide(bytes, NANOS_PER_SEC, span);
}

/* The bytes in `span` at `rate`. */
static inline u64 bytes_in(u64 rate, u64 span)
{
	return multiply_divide(rate, span, NANOS_PER_SEC);
}

/* The smallest multiple that is at least `bytes`, or `bytes` if there is none. */
static inline u64 next_multiple(u64 bytes, u64 of)
{
	u64 rest = bytes % of;
	u64 missing = rest ? of - rest : 0;

	return bytes + missing < bytes ? bytes : bytes + missing;
}
