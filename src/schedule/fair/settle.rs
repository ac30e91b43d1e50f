//! Keeps the order true after each change: which queues are ready, in which line they stand, and
//! which lines compete.
//! Owns the transitions between waiting for a pause, for tokens, for a slot, and for the turn.

use super::Scheduler;
use super::people::NEVER;
use super::policy::Wait;
use crate::inbound::queue::slab::NONE;
use crate::inbound::queue::{Kind, Run, State};
use crate::schedule::bucket::{Tick, ticks};
use crate::schedule::lane::{Ladder, aged, claim};

impl Scheduler {
    /// Looks at a queue after its entries changed.
    pub(super) fn settle(&mut self, queue: u32) {
        self.settle_after(queue, NONE);
    }

    /// The same after a turn of `user` (or `NONE`), who is likely to be next in it.
    pub(super) fn settle_after(&mut self, queue: u32, user: u32) {
        self.want(queue);
        let state = self.backlog.queues[queue].state;
        if state == State::Running {
            return;
        }
        let Some(run) = self.backlog.run(queue, self.policy.messages_per_request) else {
            self.detach(queue);
            self.backlog.release(queue);
            return;
        };
        self.backlog.queues[queue].run = run.len;
        let ready = self.ready_at(queue, &run);
        if ready <= self.now {
            self.seat(queue, &run, user);
        } else if state != State::Quiet(ready) {
            self.detach(queue);
            self.backlog.queues[queue].state = State::Quiet(ready);
            self.quiet.insert((ready, queue));
            self.waits(self.backlog.queues[queue].list.head, Wait::Pause);
        }
    }

    /// When the head of the queue may run, its person's slots and tokens aside.
    fn ready_at(&self, queue: u32, run: &Run) -> Tick {
        let debounce = ticks(self.policy.debounce);
        // A queue that cannot take more is complete too: with the oldest dropped for each new
        // message its first message would stay young, and the longest pause would never end.
        let full = self.backlog.queues[queue].list.len >= self.policy.max_queue_size;
        if debounce == 0 || run.complete || full || self.total_full() {
            return self.now;
        }
        let longest = run.first.saturating_add(ticks(self.policy.debounce_max));
        run.last.saturating_add(debounce).min(longest)
    }

    /// Puts a ready queue into the line where it belongs.
    fn seat(&mut self, queue: u32, run: &Run, likely: u32) {
        if let State::Ready { line, .. } = self.backlog.queues[queue].state {
            let seated = &self.people.lines[line];
            let user = seated.user;
            let same = self.people.users[user].person == run.person && seated.kind == run.kind;
            // A better level must not cost it the time that it has waited already.
            let rises = seated.level < run.level && {
                let aging = self.aging();
                claim(self.now, run.level, aging) < claim(seated.since, seated.level, aging)
            };
            if same && seated.level <= run.level && !rises {
                self.refresh(user);
                return;
            }
        }
        self.detach(queue);
        let user = self.people.open_likely(run.person, likely);
        let line = self.people.open_line(user, run.kind, run.level, self.now);
        let tail = self.people.lines[line].tail;
        match tail {
            NONE => self.people.lines[line].head = queue,
            tail => {
                if let State::Ready { after, .. } = &mut self.backlog.queues[tail].state {
                    *after = queue;
                }
            }
        }
        self.people.lines[line].tail = queue;
        self.backlog.queues[queue].state = State::Ready {
            line,
            before: tail,
            after: NONE,
        };
        self.refresh(user);
    }

    /// Takes a queue out of its line or its pause.
    fn detach(&mut self, queue: u32) {
        match self.backlog.queues[queue].state {
            State::Quiet(at) => {
                self.quiet.remove(&(at, queue));
                self.backlog.queues[queue].state = State::Idle;
            }
            State::Ready { line, .. } => {
                let user = self.people.lines[line].user;
                self.unseat(queue);
                self.refresh(user);
            }
            State::Idle | State::Running => {}
        }
    }

    /// Takes a queue out of its line, and an empty line off the ladder. The person wants a
    /// `refresh` afterwards.
    pub(super) fn unseat(&mut self, queue: u32) {
        let State::Ready {
            line,
            before,
            after,
        } = self.backlog.queues[queue].state
        else {
            return;
        };
        self.backlog.queues[queue].state = State::Idle;
        match before {
            NONE => self.people.lines[line].head = after,
            before => {
                if let State::Ready { after: link, .. } = &mut self.backlog.queues[before].state {
                    *link = after;
                }
            }
        }
        match after {
            NONE => self.people.lines[line].tail = before,
            after => {
                if let State::Ready { before: link, .. } = &mut self.backlog.queues[after].state {
                    *link = before;
                }
            }
        }
        if self.people.lines[line].head == NONE {
            self.unlist(line);
            self.people.close_line(line);
        }
    }

    /// Gives a person's waiting commands the line that the first of them asks for.
    pub(super) fn seat_commands(&mut self, user: u32) {
        let head = self.people.users[user].commands.head;
        let wanted = (head != NONE).then(|| self.backlog.nodes[head].level());
        let line = self.people.command_line(user);
        if let Some(line) = line
            && wanted != Some(self.people.lines[line].level)
        {
            self.unlist(line);
            self.people.close_line(line);
        }
        if let Some(level) = wanted {
            self.people.open_line(user, Kind::Now, level, self.now);
        }
        self.refresh(user);
    }

    /// Looks at a person after his slots, his tokens or his lines changed: lists the lines that
    /// can run, takes off the others, and sets his timer. An idle person with a full bucket is
    /// removed.
    pub(super) fn refresh(&mut self, user: u32) {
        // Tokens go to the line with the best claim: one that needs many is not starved by others
        // of the same person that need few.
        let mut first_short: Option<(Tick, Tick)> = None;
        let mut line = self.people.users[user].lines;
        while line != NONE {
            let at = self.tokens_at(line);
            if self.has_slot(line) && at > self.now {
                let claim = self.claim_of(line);
                if first_short.is_none_or(|(best, _)| claim < best) {
                    first_short = Some((claim, at));
                }
            }
            line = self.people.lines[line].next;
        }
        line = self.people.users[user].lines;
        while line != NONE {
            let ahead = first_short.is_none_or(|(best, _)| self.claim_of(line) <= best);
            let has_slot = self.has_slot(line);
            if ahead && has_slot && self.tokens_at(line) <= self.now {
                self.list(line);
            } else {
                self.unlist(line);
                self.line_waits(line, if has_slot { Wait::Token } else { Wait::Turn });
            }
            line = self.people.lines[line].next;
        }
        let record = &self.people.users[user];
        let active = record.lines != NONE || record.turns > 0 || record.commands_running;
        if active {
            self.set_timer(user, first_short.map_or(NEVER, |(_, at)| at), false);
            return;
        }
        let full = record.bucket.full_at(self.policy.user);
        if full <= self.now {
            self.set_timer(user, NEVER, false);
            self.people.remove(user);
        } else {
            self.set_timer(user, full, true);
        }
    }

    /// The tokens that the first turn of a line takes.
    pub(super) fn need(&self, line: u32) -> u32 {
        let line = &self.people.lines[line];
        match line.kind {
            Kind::Message => self.backlog.queues[line.head].run,
            Kind::InOrder | Kind::Now => 1,
        }
    }

    fn tokens_at(&self, line: u32) -> Tick {
        let bucket = self.people.users[self.people.lines[line].user].bucket;
        bucket.ready_at(self.policy.user, self.need(line), self.now)
    }

    fn has_slot(&self, line: u32) -> bool {
        let line = &self.people.lines[line];
        let user = &self.people.users[line.user];
        match line.kind {
            Kind::Now => !user.commands_running,
            Kind::Message | Kind::InOrder => user.turns < self.policy.max_turns_per_user,
        }
    }

    fn claim_of(&self, line: u32) -> Tick {
        let line = &self.people.lines[line];
        claim(line.since, line.level, self.aging())
    }

    /// Lets a line compete. One that keeps its place keeps it; one that lost it to another line of
    /// the same person comes back as high as its age.
    fn list(&mut self, line: u32) {
        let (now, aging) = (self.now, self.aging());
        let record = &mut self.people.lines[line];
        if record.place != NONE {
            return;
        }
        if record.listed == NEVER {
            record.listed = now;
        }
        let level = aged(record.level, record.listed, now, aging);
        let kind = record.kind;
        record.place = ladder(kind, &mut self.commands, &mut self.messages).enter(line, level, now);
        if kind == Kind::Message {
            let user = self.people.lines[line].user;
            self.waits.listed(self.people.users[user].person);
        }
    }

    pub(super) fn unlist(&mut self, line: u32) {
        let record = &mut self.people.lines[line];
        let place = std::mem::replace(&mut record.place, NONE);
        if place != NONE {
            ladder(record.kind, &mut self.commands, &mut self.messages).leave(place);
        }
    }

    fn set_timer(&mut self, user: u32, at: Tick, idle: bool) {
        let record = &mut self.people.users[user];
        let before = (record.timer, record.idle);
        if before == (at, idle) {
            return;
        }
        (record.timer, record.idle) = (at, idle);
        if before.0 != NEVER {
            let timers = if before.1 {
                &mut self.idle
            } else {
                &mut self.short
            };
            timers.remove(&(before.0, user));
        }
        if at != NEVER {
            let timers = if idle {
                &mut self.idle
            } else {
                &mut self.short
            };
            timers.insert((at, user));
        }
    }
}

fn ladder<'a>(kind: Kind, commands: &'a mut Ladder, messages: &'a mut Ladder) -> &'a mut Ladder {
    match kind {
        Kind::Message => messages,
        Kind::InOrder | Kind::Now => commands,
    }
}
