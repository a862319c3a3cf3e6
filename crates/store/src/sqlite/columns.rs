//! Batches of small things as columns: like beside like, numbers as differences to the one before. Bytes only; what the
//! columns mean is known where they are made.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// The number of the packing, on disk.
pub(super) const COLUMNS: i64 = 1;

/// Zstandard's own default.
const LEVEL: i32 = 3;
/// The most bytes of a batch that is read back. One is packed when it has come to a thousandth of that; a single
/// decision may be larger.
const MOST_BYTES: u64 = 256 << 20;

/// Differences of each number to the one before.
pub(super) fn differences(numbers: impl IntoIterator<Item = i64>) -> Vec<i64> {
    let mut before = 0_i64;
    let difference = |number: i64| number.wrapping_sub(std::mem::replace(&mut before, number));
    numbers.into_iter().map(difference).collect()
}

/// The numbers that have these differences.
pub(super) fn sums(differences: Vec<i64>) -> impl Iterator<Item = i64> {
    differences.into_iter().scan(0_i64, |sum, difference| {
        *sum = sum.wrapping_add(difference);
        Some(*sum)
    })
}

/// Packs columns and compresses them, after the number of bytes they have.
pub(super) fn compress<T: Serialize>(columns: &T) -> Result<Vec<u8>, Error> {
    let plain = postcard::to_allocvec(columns)?;
    let compressed = zstd::bulk::compress(&plain, LEVEL)
        .map_err(|reason| Error::system("compressing a batch of the journal", &reason))?;
    let mut packed = postcard::to_allocvec(&(plain.len() as u64))?;
    packed.extend(compressed);
    Ok(packed)
}

/// Reads columns back.
pub(super) fn expand<T: DeserializeOwned>(packed: &[u8]) -> Result<T, Error> {
    let (size, compressed) = postcard::take_from_bytes::<u64>(packed)?;
    if size > MOST_BYTES {
        return Err(Error::damaged(format!("a batch of the journal claims {size} bytes")));
    }
    let plain = zstd::bulk::decompress(compressed, size as usize)
        .map_err(|reason| Error::damaged(format!("a batch of the journal cannot be read: {reason}")))?;
    Ok(postcard::from_bytes(&plain)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_their_differences() {
        let numbers = [3, 5, 5, i64::MIN, i64::MAX, 0, -7];
        assert_eq!(sums(differences(numbers)).collect::<Vec<_>>(), numbers);
    }

    #[test]
    fn what_is_not_a_batch_is_damage_and_takes_no_memory() {
        let packed = compress(&vec![7_i64; 1000]).unwrap();
        assert_eq!(expand::<Vec<i64>>(&packed).unwrap(), [7; 1000]);
        assert!(packed.len() < 100, "{}", packed.len());
        let huge = [postcard::to_allocvec(&u64::MAX).unwrap(), vec![1, 2, 3]].concat();
        for broken in [&packed[..packed.len() - 3], &packed[3..], &[], &huge] {
            assert!(matches!(expand::<Vec<i64>>(broken), Err(Error::Damaged { .. })), "{broken:?}");
        }
    }
}
