//! How many sockets one address has open, and how many of the places that all share.
//!
//! Owns the counts of a site, one for each address that has any. The networks that providers give to one customer
//! count as one address. It never learns an address by itself: the gateway's web server says whose a request is.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The sockets of each address. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Addresses {
    /// 0 is no limit.
    most: usize,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// The place of one socket among those of its address; given back on drop.
#[derive(Debug)]
pub(crate) struct Place {
    of: Addresses,
    address: IpAddr,
}

impl Addresses {
    /// At most so many for each address; 0 is no limit.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            open: Arc::default(),
        }
    }

    /// A place for a socket of an address; `None` if it has enough of them.
    pub(crate) fn enter(&self, address: IpAddr) -> Option<Place> {
        let address = customer(address);
        let mut open = self.open.lock();
        let count = open.entry(address).or_default();
        if self.most > 0 && *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Place {
            of: self.clone(),
            address,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.of.open.lock();
        if let Some(count) = open.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.address);
            }
        }
    }
}

/// What many share and one address must not have alone: so many places in all, half of them for an address.
#[derive(Debug)]
pub(crate) struct Shared {
    places: Arc<Semaphore>,
    addresses: Addresses,
}

/// One of the places; given back on drop.
pub(crate) type Held = (OwnedSemaphorePermit, Option<Place>);

impl Shared {
    /// So many in all.
    pub(crate) fn new(places: usize) -> Self {
        Self {
            places: Arc::new(Semaphore::new(places)),
            addresses: Addresses::new(places.div_ceil(2)),
        }
    }

    /// A place, if there is one.
    pub(crate) fn enter(&self, address: Option<IpAddr>) -> Option<Held> {
        let share = match address {
            Some(address) => Some(self.addresses.enter(address)?),
            None => None,
        };
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        Some((place, share))
    }
}

/// What one customer of a provider has: an IPv4 address, or an IPv6 network of 64 bits.
pub(crate) fn customer(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = address.to_bits() & (u128::MAX << 64);
            IpAddr::V6(Ipv6Addr::from_bits(network))
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> IpAddr {
        address.parse().unwrap()
    }

    #[test]
    fn an_address_has_so_many_sockets_and_gives_them_back() {
        let addresses = Addresses::new(2);
        let first = addresses.enter(at("192.0.2.1")).unwrap();
        // The same address, as a socket for both families shows it.
        let second = addresses.enter(at("::ffff:192.0.2.1")).unwrap();
        assert!(addresses.enter(at("192.0.2.1")).is_none());
        assert!(addresses.enter(at("192.0.2.2")).is_some());
        drop(first);
        let third = addresses.enter(at("192.0.2.1"));
        assert!(third.is_some());
        drop((second, third));
        assert!(addresses.open.lock().is_empty(), "nothing is left behind");
    }

    #[test]
    fn one_address_leaves_half_of_the_places_to_others() {
        let shared = Shared::new(4);
        let (one, other) = (Some(at("192.0.2.1")), Some(at("192.0.2.2")));
        let held: Vec<Held> = (0..3).filter_map(|_| shared.enter(one)).collect();
        assert_eq!(held.len(), 2);
        let rest = [shared.enter(other), shared.enter(None)];
        assert!(rest.iter().all(Option::is_some));
        assert!(shared.enter(None).is_none());
        drop(held);
        assert!(shared.enter(one).is_some());
    }

    #[test]
    fn a_customers_network_is_one_address() {
        let addresses = Addresses::new(1);
        let _first = addresses.enter(at("2001:db8:1:2::1")).unwrap();
        assert!(addresses.enter(at("2001:db8:1:2:ffff::9")).is_none());
        assert!(addresses.enter(at("2001:db8:1:3::1")).is_some());
        let unlimited = Addresses::new(0);
        let places: Vec<_> = (0..100).map(|_| unlimited.enter(at("::1"))).collect();
        assert!(places.iter().all(Option::is_some));
    }
}
