//! How a service proves that it belongs to a data directory before a client sends it a token: only the service, and users who can
//! read that directory, know the token of local commands. A challenge is a random text; the proof is a hash of it, keyed with
//! that token. Decides nothing: the client compares.
//!
//! Invariant: neither a challenge nor a proof says anything about the token, and no challenge comes twice.

use rand::TryRng;
use rand::rngs::SysRng;
use subtle::ConstantTimeEq;

use crate::Error;
use crate::tokens::hex;

/// Keeps keys of this use apart from all others.
const CONTEXT: &str = "dunlin 2026-11 proof of a service to local commands";

/// Hexadecimal digits of a challenge.
pub const CHALLENGE_DIGITS: usize = 64;

/// A new challenge: 256 random bits, as hexadecimal digits.
pub fn challenge() -> Result<String, Error> {
    let mut random = [0_u8; CHALLENGE_DIGITS / 2];
    SysRng.try_fill_bytes(&mut random).map_err(|error| Error::NoRandomness { reason: error.to_string() })?;
    Ok(hex(&random))
}

/// Whether a text can be a challenge.
pub(crate) fn is_challenge(text: &str) -> bool {
    text.len() == CHALLENGE_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What a service with this token answers to a challenge.
pub fn answer(token: &str, challenge: &str) -> String {
    let key = blake3::derive_key(CONTEXT, token.as_bytes());
    blake3::keyed_hash(&key, challenge.as_bytes()).to_string()
}

/// Whether only a holder of the token could have given this answer.
pub fn is_proven(token: &str, challenge: &str, given: &str) -> bool {
    answer(token, challenge).as_bytes().ct_eq(given.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_token_and_challenge_give_the_same_answer() {
        let (one, other) = (challenge().unwrap(), challenge().unwrap());
        assert!(is_challenge(&one) && one != other);
        assert!(is_proven("token", &one, &answer("token", &one)));
        assert!(!is_proven("token", &one, &answer("token", &other)));
        assert!(!is_proven("token", &one, &answer("Token", &one)));
        assert!(!is_proven("token", &one, ""));
        for text in ["", &one[1..], &format!("{one}0"), &format!("g{}", &one[1..])] {
            assert!(!is_challenge(text), "{text}");
        }
    }
}
