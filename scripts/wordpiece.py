"""Splits documents into word pieces, greedy longest match first as BERT's tokenizer does, and prints the speed of each batch.

Arguments: words a document, documents a batch, number of batches, seed. Needs Python 3.8 or newer and nothing else.
"""

import random
import sys
import time
import unicodedata

CONSONANTS = "bcdfghjklmnprstvwz"
VOWELS = "aeiouáéíóú"
LONGEST = 12
PUNCTUATION = ".,;:!?()[]\"'"


def vocabulary(rng):
    """All syllables as first and as later pieces, and three thousand whole words."""
    syllables = [consonant + vowel for consonant in CONSONANTS for vowel in VOWELS]
    pieces = set(syllables) | {"##" + syllable for syllable in syllables}
    for _ in range(3000):
        pieces.add("".join(rng.choice(syllables) for _ in range(rng.randint(2, 4))))
    return syllables, {piece: number for number, piece in enumerate(sorted(pieces))}


def split(word, pieces):
    """The numbers of the longest pieces that the word begins with, one after another."""
    found, start = [], 0
    while start < len(word):
        for end in range(min(len(word), start + LONGEST), start, -1):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in pieces:
                found.append(pieces[piece])
                start = end
                break
        else:
            return [-1]
    return found


def encode(text, pieces):
    # The vocabulary has no punctuation, and knows a letter with an accent as one character, not as two.
    words = (unicodedata.normalize("NFC", word.strip(PUNCTUATION)) for word in text.lower().split())
    return [number for word in words for number in split(word, pieces)]


def main():
    words, documents, batches, seed = map(int, sys.argv[1:])
    rng = random.Random(seed)
    syllables, pieces = vocabulary(rng)
    texts = [
        " ".join("".join(rng.choice(syllables) for _ in range(rng.randint(1, 4))).capitalize() for _ in range(words))
        for _ in range(documents)
    ]
    for batch in range(batches):
        slowest, tokens, begun = 0.0, 0, time.perf_counter()
        for text in texts:
            start = time.perf_counter()
            tokens += len(encode(text, pieces))
            slowest = max(slowest, time.perf_counter() - start)
        seconds = time.perf_counter() - begun
        print(f"batch {batch} tokens {tokens} throughput {tokens / seconds:.1f} tokens/s slowest {slowest * 1e3:.4f} ms", flush=True)


main()
