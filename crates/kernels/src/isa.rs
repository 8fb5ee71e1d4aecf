//! Which instructions this processor has, as proofs that code for them may run.

use steelyard_wire::kernel::Isa;

use crate::KernelError;

/// Proof that this processor has AVX2 and FMA: only [`Avx2::detect`] makes one.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(());

/// Proof that this processor has AVX-512F and FMA: only [`Avx512::detect`] makes one.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512(());

/// Plain code that every processor of the target runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    pub(crate) fn detect() -> Option<Self> {
        let here = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        here.then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    pub(crate) fn detect() -> Option<Self> {
        let here = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("fma");
        here.then_some(Self(()))
    }
}

/// Instruction sets of this processor that kernels are written for, best last.
pub fn available() -> Vec<Isa> {
    #[cfg(target_arch = "x86_64")]
    let better = [
        Avx2::detect().map(|_| Isa::Avx2),
        Avx512::detect().map(|_| Isa::Avx512),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let better: [Option<Isa>; 0] = [];
    std::iter::once(Isa::Portable)
        .chain(better.into_iter().flatten())
        .collect()
}

/// The best instruction set of this processor.
pub fn best() -> Isa {
    available().last().copied().unwrap_or(Isa::Portable)
}

/// An instruction set with the proof that it is there.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Proof {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Proof {
    /// Of the one asked for, or of the best.
    pub(crate) fn of(asked: Option<Isa>) -> Result<Self, KernelError> {
        let isa = asked.unwrap_or_else(best);
        let proof = match isa {
            Isa::Portable => Some(Self::Portable(Portable)),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Avx2::detect().map(Self::Avx2),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Avx512::detect().map(Self::Avx512),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 | Isa::Avx512 => None,
        };
        proof.ok_or(KernelError::NoSuchIsa(isa))
    }

    /// The instruction set that is proved available.
    pub(crate) fn isa(self) -> Isa {
        match self {
            Self::Portable(_) => Isa::Portable,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => Isa::Avx2,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => Isa::Avx512,
        }
    }
}

/// `$body` once for each instruction set, with `$name` bound to the proof of the one that runs.
macro_rules! with_proof {
    ($proof:expr, $name:ident => $body:expr) => {
        match $proof {
            $crate::isa::Proof::Portable($name) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Proof::Avx2($name) => $body,
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Proof::Avx512($name) => $body,
        }
    };
}
pub(crate) use with_proof;
