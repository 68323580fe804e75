//! The codes that close a connection. None is 0, which a QUIC endpoint sends when its program has ended.

use noq_proto::VarInt;

pub const GONE: VarInt = VarInt::from_u32(0);
pub const DONE: VarInt = VarInt::from_u32(1);
pub const WRONG_SECRET: VarInt = VarInt::from_u32(2);
pub const PROTOCOL: VarInt = VarInt::from_u32(3);
pub const SOURCE_CHANGED: VarInt = VarInt::from_u32(4);
pub const TAKEN_OVER: VarInt = VarInt::from_u32(5);
pub const REFUSED: VarInt = VarInt::from_u32(6);
pub const FAILED: VarInt = VarInt::from_u32(7);
pub const IN_USE: VarInt = VarInt::from_u32(8);
