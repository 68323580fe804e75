//! Bounds of packets' sizes and shares.

use units::{Bytes, ConfigError, Ratio};

/// The size of a full packet. A buffer or bucket in bytes must hold at least one.
pub const MTU: Bytes = Bytes::new(1500);

/// Checks that a share of packets is between zero and one.
pub(crate) fn share(field: &'static str, share: Ratio) -> Result<(), ConfigError> {
    if share > Ratio::ONE {
        return Err(ConfigError::new(
            field,
            format!("of {share} is above 100%; give a share from 0% to 100%"),
        ));
    }
    Ok(())
}
