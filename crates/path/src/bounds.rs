//! What sizes and shares of packets must be.

use units::{Bytes, ConfigError, Ratio};

/// The size of a full packet, the least that a buffer or bucket in bytes must hold.
pub const MTU: Bytes = Bytes::new(1500);

/// Checks that a share of packets is one.
pub(crate) fn share(field: &'static str, share: Ratio) -> Result<(), ConfigError> {
    if share > Ratio::ONE {
        return Err(ConfigError::new(
            field,
            format!("of {share} is above 100%; give a share from 0% to 100%"),
        ));
    }
    Ok(())
}
