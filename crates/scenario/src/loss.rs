//! Random loss: `loss`.

use path::{GilbertElliott, Loss};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::Ratio;

use super::bounds::{lost_share, share};
use super::ser::tagged;

/// As scenarios have it: a share, or a table.
#[derive(Serialize, Deserialize)]
#[serde(rename = "kind of loss", rename_all = "lowercase", deny_unknown_fields)]
enum Form {
    #[serde(rename = "", deserialize_with = "lost_share")]
    Independent(Ratio),
    Gilbert {
        #[serde(deserialize_with = "share")]
        p: Ratio,
        #[serde(deserialize_with = "share")]
        r: Ratio,
        #[serde(default, deserialize_with = "share")]
        loss_good: Ratio,
        #[serde(default = "all", deserialize_with = "share")]
        loss_bad: Ratio,
    },
}

const fn all() -> Ratio {
    Ratio::ONE
}

/// Loss with one probability for all packets; none if it is zero.
pub fn independent(loss: Ratio) -> Loss {
    if loss == Ratio::ZERO {
        Loss::None
    } else {
        Loss::Independent(loss)
    }
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Loss, D::Error> {
    Ok(match Form::deserialize(deserializer)? {
        Form::Independent(share) => independent(share),
        Form::Gilbert {
            p,
            r,
            loss_good,
            loss_bad,
        } => Loss::GilbertElliott(GilbertElliott {
            p,
            r,
            loss_good,
            loss_bad,
        }),
    })
}

pub fn serialize<S: Serializer>(loss: &Loss, serializer: S) -> Result<S::Ok, S::Error> {
    let form = match *loss {
        Loss::None => Form::Independent(Ratio::ZERO),
        Loss::Independent(share) => Form::Independent(share),
        Loss::GilbertElliott(GilbertElliott {
            p,
            r,
            loss_good,
            loss_bad,
        }) => Form::Gilbert {
            p,
            r,
            loss_good,
            loss_bad,
        },
    };
    tagged(&form, serializer)
}
