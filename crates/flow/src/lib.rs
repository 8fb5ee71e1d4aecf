//! Both ends of a bulk flow: the loops that move its bytes, and what the ends say to each other.

pub mod exchange;
