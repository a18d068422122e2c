//! Lists of numbers, one for each vertex, in one array: the lists of vertices in turn are read without a chain of dependent loads.

/// A list of each vertex: its items are side by side, with room for a power of two of them.
#[derive(Clone, Debug)]
pub(crate) struct VertexLists {
    items: Vec<u32>,
    spans: Vec<Span>,
    /// First items of the rooms of 2ⁿ items that are not used, for each n.
    vacant: Vec<Vec<u32>>,
}

/// The place of a list in the array.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u32,
    len: u32,
    /// Number of items that fit: 0 or a power of two.
    room: u32,
}

/// Items of the first room of a list.
const FIRST_ROOM: u32 = 4;

impl VertexLists {
    /// Empty lists.
    pub(crate) fn new(n_vertices: usize) -> Self {
        let empty = Span { first: 0, len: 0, room: 0 };
        VertexLists { items: vec![], spans: vec![empty; n_vertices], vacant: vec![] }
    }

    /// Makes room for one more vertex.
    pub(crate) fn add_vertex(&mut self) {
        self.spans.push(Span { first: 0, len: 0, room: 0 });
    }

    #[inline]
    pub(crate) fn of(&self, vertex: u32) -> &[u32] {
        let span = self.spans[vertex as usize];
        &self.items[span.first as usize..(span.first + span.len) as usize]
    }

    /// Appends an item.
    pub(crate) fn push(&mut self, vertex: u32, item: u32) {
        let mut span = self.spans[vertex as usize];
        if span.len == span.room {
            span = self.moved(span);
        }
        self.items[(span.first + span.len) as usize] = item;
        span.len += 1;
        self.spans[vertex as usize] = span;
    }

    /// Removes an item, in whose place the last one comes.
    pub(crate) fn remove(&mut self, vertex: u32, item: u32) {
        let span = &mut self.spans[vertex as usize];
        let list = &mut self.items[span.first as usize..(span.first + span.len) as usize];
        if let Some(at) = list.iter().position(|&other| other == item) {
            list.swap(at, span.len as usize - 1);
            span.len -= 1;
        }
    }

    /// The list in a room of twice the size.
    fn moved(&mut self, old: Span) -> Span {
        let room = (2 * old.room).max(FIRST_ROOM);
        let class = |room: u32| room.trailing_zeros() as usize;
        self.vacant.resize(self.vacant.len().max(class(room) + 1), vec![]);
        let first = self.vacant[class(room)].pop().unwrap_or_else(|| {
            let first = self.items.len();
            self.items.resize(first + room as usize, 0);
            first as u32
        });
        let from = old.first as usize;
        self.items.copy_within(from..from + old.len as usize, first as usize);
        if old.room > 0 {
            self.vacant[class(old.room)].push(old.first);
        }
        Span { first, len: old.len, room }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_grow_and_use_the_rooms_of_others_again() {
        let mut lists = VertexLists::new(2);
        (0..9).for_each(|item| lists.push(0, item));
        assert_eq!(lists.of(0), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        lists.remove(0, 2);
        assert_eq!(lists.of(0), [0, 1, 8, 3, 4, 5, 6, 7]);
        let used = lists.items.len();
        (0..5).for_each(|item| lists.push(1, item));
        assert_eq!((lists.of(1), lists.items.len()), (&[0, 1, 2, 3, 4][..], used));
        lists.add_vertex();
        assert!(lists.of(2).is_empty());
    }
}
