//! The nine capabilities, in the manner of Unix permission bits.
//!
//! Owns the bits and their names. Numbers are stored and written in agent.yaml: they never change.

bitflags::bitflags! {
    /// What somebody may do.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Capability: u16 {
        /// Read messages.
        const READ = 0o400;
        /// Change shared state.
        const WRITE = 0o200;
        /// Run tools.
        const EXECUTE = 0o100;
        /// Be answered; use public and control commands.
        const SEND_MESSAGE = 0o040;
        /// Send pictures, voice and files.
        const SEND_MEDIA = 0o020;
        /// Use commands that are not public.
        const SEND_COMMAND = 0o010;
        /// Moderate: members, their messages and turns, the conversation's ordinary settings.
        const MANAGE_MEMBER = 0o004;
        /// Change permission keys of a conversation.
        const MANAGE_CONFIG = 0o002;
        /// Hand out and take roles, transfer ownership.
        const MANAGE_PERMISSION = 0o001;
    }
}
