//! Which turn starts next, and what happens when it ends.
//! Owns the taking of tokens and slots. Never takes a token for a turn that does not start.

use super::people::NEVER;
use super::policy::{Batch, Next, Taken, TurnToken};
use super::{Scheduler, Turn, waited};
use crate::inbound::queue::slab::NONE;
use crate::inbound::queue::{Kind, Node, State, shrink};
use crate::schedule::bucket::Tick;
use std::collections::BTreeSet;

impl Scheduler {
    /// The next turn. Without a free model only commands can start. Call it again until it says
    /// `Wait`; then when its tick has come, after a push and after a `done`.
    pub fn next(&mut self, now: Tick, model_free: bool) -> Next {
        self.advance(now);
        self.wake();
        loop {
            let Some(line) = self.best(model_free) else {
                self.nothing_starts(model_free);
                return Next::Wait(self.earliest(model_free));
            };
            // Nothing came of it: what waited there was too old. Whoever is next now may run.
            if let Some(batch) = self.start(line) {
                return Next::Run(batch);
            }
        }
    }

    /// The turn has ended, in whatever way. False, and without effect, if it had ended before.
    pub fn done(&mut self, token: TurnToken, now: Tick) -> bool {
        self.advance(now);
        let Some(turn) = self.turns.remove(&token.0) else {
            return false;
        };
        if turn.queue == NONE {
            self.people.users[turn.user].commands_running = false;
        } else {
            self.people.users[turn.user].turns -= 1;
            self.backlog.queues[turn.queue].state = State::Idle;
            self.settle_after(turn.queue, turn.user);
        }
        // Also if the queue went on to another person, or is empty.
        self.refresh(turn.user);
        shrink(&mut self.turns);
        true
    }

    /// Looks at the queues and people whose time has come.
    fn wake(&mut self) {
        while let Some(&(at, queue)) = self.quiet.first()
            && at <= self.now
        {
            self.settle(queue);
        }
        while let Some(&(at, user)) = self.short.first()
            && at <= self.now
        {
            self.refresh(user);
        }
    }

    /// The line with the smallest claim among those that can run.
    fn best(&self, model_free: bool) -> Option<u32> {
        let aging = self.aging();
        let command = self.commands.best(aging);
        let message = self
            .messages
            .best(aging)
            .filter(|&(_, line)| model_free && self.gateway_ready_at(line) <= self.now);
        match (command, message) {
            (Some((ours, command)), Some((theirs, message))) => {
                Some(if ours <= theirs { command } else { message })
            }
            (command, message) => command.or(message).map(|(_, line)| line),
        }
    }

    /// When the whole gateway's bucket has the tokens for a line's messages.
    fn gateway_ready_at(&self, line: u32) -> Tick {
        let need = self.need(line);
        self.policy
            .manual
            .map_or(self.now, |rate| self.manual.ready_at(rate, need, self.now))
    }

    fn earliest(&self, model_free: bool) -> Option<Tick> {
        let first = |timers: &BTreeSet<(Tick, u32)>| timers.first().map(|&(at, _)| at);
        let gateway = self.messages.best(self.aging()).filter(|_| model_free);
        let gateway = gateway.map(|(_, line)| self.gateway_ready_at(line));
        [first(&self.quiet), first(&self.short), gateway]
            .into_iter()
            .flatten()
            .min()
    }

    fn start(&mut self, line: u32) -> Option<Batch> {
        if self.people.lines[line].kind == Kind::Now {
            return self.start_command(line);
        }
        let queue = self.people.lines[line].head;
        if self.expire_head(queue) {
            self.settle(queue);
            return None;
        }
        let user = self.people.lines[line].user;
        let need = self.need(line);
        let kind = self.people.lines[line].kind;
        let run = self.backlog.run(queue, need)?;
        if !self.people.users[user]
            .bucket
            .take(self.policy.user, need, self.now)
        {
            self.refresh(user);
            return None;
        }
        if let Some(rate) = self.policy.manual.filter(|_| kind == Kind::Message) {
            let taken = self.manual.take(rate, need, self.now);
            debug_assert!(taken, "asked before");
        }
        self.unlist(line);
        self.people.lines[line].since = self.now;
        self.people.lines[line].listed = NEVER;
        self.unseat(queue);
        self.people.users[user].turns += 1;
        let record = &mut self.backlog.queues[queue];
        record.state = State::Running;
        let dropped = if kind == Kind::Message {
            record.take_dropped()
        } else {
            None
        };
        let (key, mut list) = (record.key, record.list);
        let head = &self.backlog.nodes[list.head];
        let (account, conversation, person) = (head.account, head.conversation, head.person);
        let mut entries = Vec::with_capacity(run.len as usize);
        for _ in 0..run.len {
            entries.extend(self.backlog.pop(&mut list).map(|node| self.taken(node)));
        }
        self.backlog.queues[queue].list = list;
        let token = self.begin(Turn { user, queue });
        self.refresh(user);
        self.want(queue);
        let lane = run.lane;
        Some(Batch {
            token,
            key,
            account,
            conversation,
            person,
            kind,
            lane,
            entries,
            dropped,
        })
    }

    fn start_command(&mut self, line: u32) -> Option<Batch> {
        let user = self.people.lines[line].user;
        let mut list = self.people.users[user].commands;
        let node = self.backlog.pop(&mut list)?;
        self.people.users[user].commands = list;
        let key = self.backlog.queues[node.queue].key;
        self.forget_command(node.queue, node.id);
        if self.is_expired(node.at) {
            self.set_aside(key, node);
            self.seat_commands(user);
            return None;
        }
        let taken = self.people.users[user]
            .bucket
            .take(self.policy.user, 1, self.now);
        debug_assert!(taken, "a listed line has its tokens");
        self.people.users[user].commands_running = true;
        self.unlist(line);
        self.people.close_line(line);
        self.seat_commands(user);
        Some(Batch {
            token: self.begin(Turn { user, queue: NONE }),
            key,
            account: node.account,
            conversation: node.conversation,
            person: node.person,
            kind: Kind::Now,
            lane: node.lane,
            entries: vec![self.taken(node)],
            dropped: None,
        })
    }

    fn begin(&mut self, turn: Turn) -> TurnToken {
        self.serial += 1;
        self.turns.insert(self.serial, turn);
        TurnToken(self.serial)
    }

    fn taken(&self, node: Node) -> Taken {
        Taken {
            id: node.id,
            body: node.body,
            waited: waited(node.at, self.now),
        }
    }
}
