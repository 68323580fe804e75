//! The secret that a sender must know before a receiver accepts its data.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use ring::rand::{RandomlyConstructable, SystemRandom};
use text::TextError;

use super::private_file;

/// The length of a challenge and of its proof, in bytes.
pub const PROOF_LEN: usize = blake3::OUT_LEN;

/// The minimum length of a token, in bytes. A shorter token could be guessed.
const MIN_TOKEN_BYTES: usize = 16;

/// The maximum length of a token, in bytes.
const MAX_TOKEN_BYTES: u64 = 4096;

/// The bytes that an editor may put around a token: a byte-order mark, and the line's end.
const MAX_MARGIN_BYTES: u64 = 3 + 2;

/// The number of random bytes of a new token.
const NEW_TOKEN_BYTES: usize = 16;

const KEY_CONTEXT: &str = "fullpipe-probe 2: the sender's proof of the receiver's token";

/// The secret that a receiver's senders share, or none. It is never shown.
#[derive(Clone)]
pub struct Token {
    key: [u8; blake3::KEY_LEN],
    is_none: bool,
}

/// The error of a token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The system refuses access to the file.
    #[error("cannot use {}: {source}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file has other contents.
    #[error("{} has no token in it: {reason}", .file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: Box<TokenError>,
    },
    /// The token could be guessed.
    #[error("a token has at least {MIN_TOKEN_BYTES} characters")]
    Short,
    /// The text is no token.
    #[error("a token is one line of at most {MAX_TOKEN_BYTES} characters")]
    NoText,
    /// The text has another encoding.
    #[error(transparent)]
    Encoding(TextError),
    /// No new token could be made.
    #[error("the system has no randomness for a token")]
    Randomness,
}

impl Token {
    /// Returns no secret: anybody may send.
    pub const fn none() -> Token {
        Token {
            key: [0; blake3::KEY_LEN],
            is_none: true,
        }
    }

    /// Returns the token with this text, without the white space around it.
    ///
    /// # Errors
    ///
    /// The text is too short, or has more than one line.
    pub fn parse(text: &str) -> Result<Token, TokenError> {
        let text = text.trim();
        if text.chars().any(char::is_control) || text.len() as u64 > MAX_TOKEN_BYTES {
            return Err(TokenError::NoText);
        }
        match text.chars().nth(MIN_TOKEN_BYTES - 1) {
            Some(_) => Ok(Token {
                key: blake3::derive_key(KEY_CONTEXT, text.as_bytes()),
                is_none: false,
            }),
            None => Err(TokenError::Short),
        }
    }

    /// Reads the token in this file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has no token.
    pub fn in_file(file: &Path) -> Result<Token, TokenError> {
        let failed = |source| TokenError::File {
            file: file.to_owned(),
            source,
        };
        let opened = File::open(file).map_err(failed)?;
        let token = match text::read(opened, MAX_TOKEN_BYTES + MAX_MARGIN_BYTES) {
            Ok(text) => Token::parse(&text),
            Err(TextError::Read(error)) => return Err(failed(error)),
            Err(TextError::Large(_)) => Err(TokenError::NoText),
            Err(error) => Err(TokenError::Encoding(error)),
        };
        token.map_err(|reason| TokenError::Foreign {
            file: file.to_owned(),
            reason: Box::new(reason),
        })
    }

    /// Reads the token in this file. If there is no such file, makes a new one of 128 random bits, readable by its
    /// owner only.
    ///
    /// # Errors
    ///
    /// The file cannot be read or made, or has no token.
    pub fn in_file_or_new(file: &Path) -> Result<Token, TokenError> {
        match fs::symlink_metadata(file) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            _ => return Token::in_file(file),
        }
        let text = HEXLOWER.encode(&random::<[u8; NEW_TOKEN_BYTES]>()?) + "\n";
        private_file::create(file, text.as_bytes()).map_err(|source| TokenError::File {
            file: file.to_owned(),
            source,
        })?;
        Token::parse(&text)
    }

    /// True if anybody may send.
    pub const fn is_none(&self) -> bool {
        self.is_none
    }

    /// Returns the proof that its sender knows the token. It is valid for this challenge only.
    pub fn proof(&self, challenge: &[u8; PROOF_LEN]) -> [u8; PROOF_LEN] {
        *blake3::keyed_hash(&self.key, challenge).as_bytes()
    }

    /// True if this is the proof. Compares in constant time, as [`blake3::Hash`] does.
    pub fn is_proven(&self, challenge: &[u8; PROOF_LEN], proof: &[u8]) -> bool {
        blake3::keyed_hash(&self.key, challenge) == *proof
    }
}

impl PartialEq for Token {
    fn eq(&self, other: &Token) -> bool {
        self.is_none == other.is_none && blake3::Hash::from(self.key) == other.key
    }
}

impl Eq for Token {}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_none { "no token" } else { "a token" })
    }
}

/// Returns a random challenge.
///
/// # Errors
///
/// The system has no randomness.
pub fn challenge() -> Result<[u8; PROOF_LEN], TokenError> {
    random()
}

fn random<T: RandomlyConstructable>() -> Result<T, TokenError> {
    let random = ring::rand::generate(&SystemRandom::new());
    Ok(random.map_err(|_| TokenError::Randomness)?.expose())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_of_one_token_and_one_challenge() {
        let token = Token::parse("sixteen letters!\n").unwrap();
        assert_eq!(token, Token::parse(" sixteen letters!").unwrap());
        let (one, other) = (challenge().unwrap(), challenge().unwrap());
        assert!(token.is_proven(&one, &token.proof(&one)));
        assert!(!token.is_proven(&other, &token.proof(&one)));
        assert!(!token.is_proven(&one, &token.proof(&one)[..31]));
        assert!(!token.is_proven(&one, &Token::none().proof(&one)));
        assert!(Token::none().is_proven(&one, &Token::none().proof(&one)));
        // The derivation is that of docs/probe.md, for those who write their own sender.
        let key = blake3::derive_key(KEY_CONTEXT, b"sixteen letters!");
        assert_eq!(
            token.proof(&one),
            *blake3::keyed_hash(&key, &one).as_bytes()
        );
        let open = blake3::keyed_hash(&[0; 32], &one);
        assert_eq!(Token::none().proof(&one), *open.as_bytes());
        assert!(!format!("{token:?}").contains("sixteen"));
    }

    #[test]
    fn what_is_no_token_is_refused() {
        assert!(matches!(
            Token::parse("fifteen letters"),
            Err(TokenError::Short)
        ));
        assert!(matches!(Token::parse(""), Err(TokenError::Short)));
        let two = "sixteen letters!\nand another line";
        assert!(matches!(Token::parse(two), Err(TokenError::NoText)));
        let long = "x".repeat(4097);
        assert!(matches!(Token::parse(&long), Err(TokenError::NoText)));
    }

    #[test]
    fn a_file_keeps_its_token() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("token");
        assert!(matches!(
            Token::in_file(&file),
            Err(TokenError::File { .. })
        ));
        let made = Token::in_file_or_new(&file).unwrap();
        assert_eq!(Token::in_file_or_new(&file).unwrap(), made);
        assert_eq!(Token::in_file(&file).unwrap(), made);
        assert!(!made.is_none());
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text.trim().len(), 32);
        // Editors save the text in this form.
        let marked = format!("\u{feff}{}\r\n", text.trim());
        fs::write(&file, marked).unwrap();
        assert_eq!(Token::in_file(&file).unwrap(), made);
        let wide: Vec<u8> = "\u{feff}sixteen letters!"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        fs::write(&file, wide).unwrap();
        let refused = Token::in_file(&file).unwrap_err().to_string();
        assert!(
            refused.ends_with("this is UTF-16; save it as UTF-8"),
            "{refused}"
        );
        let other = Token::in_file_or_new(&directory.path().join("other")).unwrap();
        assert_ne!(other, made);
        for contents in [
            &b""[..],
            b"short",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            fs::write(&file, contents).unwrap();
            assert!(matches!(
                Token::in_file_or_new(&file),
                Err(TokenError::Foreign { .. })
            ));
        }
        assert!(Token::in_file_or_new(directory.path()).is_err());
    }
}
