use std::collections::VecDeque;

/// A queue with a bound.
#[derive(Debug, Default)]
pub struct Queue<T> {
    items: VecDeque<T>,
    bound: usize,
}

impl<T: Clone> Queue<T> {
    pub fn new(bound: usize) -> Self {
        Queue { items: VecDeque::new(), bound }
    }

    /// Adds an item, or gives it back if there is no room.
    pub fn push<'a>(&'a mut self, item: T) -> Result<(), T> {
        if self.items.len() >= self.bound {
            return Err(item);
        }
        self.items.push_back(item);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_bounded() {
        let mut q = Queue::new(1);
        assert!(q.push('{').is_ok());
        assert!(q.push('b').is_err());
    }
}
