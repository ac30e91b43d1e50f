//! Reason codes: one enum for every drop, merge, wait, refusal, change, retry and failed delivery.
//! A code becomes a metric, a log field, a trace entry and a database value, so it is never renamed
//! or reused. Texts for people are not here: the translations match on this enum.

/// What a reason means for the message it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The message or part ends here and is not answered, as the rules say.
    Drop,
    /// It is not lost, only later, or answered together with others.
    Wait,
    /// The sender asked for something that is not given, and is told.
    Refusal,
    /// It goes on, but not exactly as it came.
    Change,
    /// It is tried again.
    Retry,
    /// It ends with an error, after whatever retries there were.
    Failure,
}

impl Class {
    /// Stable name for logs and the trace.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Wait => "wait",
            Self::Refusal => "refusal",
            Self::Change => "change",
            Self::Retry => "retry",
            Self::Failure => "failure",
        }
    }
}

/// Writes the enum, its list and both directions of its codes from one table, so that none of them
/// can be forgotten when a reason is added.
macro_rules! reasons {
    ($($(#[$doc:meta])+ $name:ident = $code:literal, $class:ident;)+) => {
        /// Why something did not simply go its way. Stored by [`Reason::code`], never by position.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason {
            $($(#[$doc])+ $name,)+
        }

        impl Reason {
            /// All reasons, in the order of [`Reason::index`].
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The stable code, snake case ASCII, as stored in the database and in metrics.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)+ }
            }

            /// The reason with this code; `None` for a code that this version does not know.
            #[must_use]
            pub fn from_code(code: &str) -> Option<Self> {
                match code { $($code => Some(Self::$name),)+ _ => None }
            }

            /// What the reason means for the message.
            #[must_use]
            pub const fn class(self) -> Class {
                match self { $(Self::$name => Class::$class,)+ }
            }
        }
    };
}

reasons! {
    /// The platform delivered an event that was already accepted.
    Duplicate = "duplicate", Drop;
    /// The bot's own message came back.
    OwnMessage = "own_message", Drop;
    /// Written by another bot, which is not answered, so that bots do not talk in circles.
    OtherBot = "other_bot", Drop;
    /// A group message that neither mentions, replies to nor names the bot.
    NotAddressed = "not_addressed", Drop;
    /// Nothing is left of the message after cleaning: no text, no media.
    EmptyMessage = "empty_message", Drop;
    /// An event of a kind that the gateway does not handle.
    UnsupportedEvent = "unsupported_event", Drop;
    /// The event could not be read as the platform's protocol describes it.
    MalformedEvent = "malformed_event", Drop;
    /// The sender is over a limit of the account, such as messages of a visitor in a day.
    AccountLimit = "account_limit", Refusal;
    /// The message or file is over the size limit.
    TooLarge = "too_large", Refusal;
    /// A queue was full, or all together, and its oldest waiting message made room.
    QueueFullDroppedOldest = "queue_full_dropped_oldest", Drop;
    /// The queue of the chat was full and the new message was not taken.
    QueueFullRefused = "queue_full_refused", Refusal;
    /// The source was asked to wait, because a queue is above its high mark.
    HeldBack = "held_back", Wait;
    /// The limit over all queues was reached and the new message was not taken.
    TotalFull = "total_full", Refusal;
    /// It waited longer than its greatest age.
    Expired = "expired", Drop;
    /// Its author took it back before it was answered.
    Recalled = "recalled", Drop;
    /// Its author changed it before it was answered; the new text counts.
    Edited = "edited", Change;
    /// Answered together with other messages of the same sender.
    Merged = "merged", Wait;
    /// Waiting a moment, in case the sender goes on writing.
    Debounced = "debounced", Wait;
    /// Waiting for a token of a rate limit.
    WaitingForToken = "waiting_for_token", Wait;
    /// Waiting for a free place at the model.
    WaitingForModel = "waiting_for_model", Wait;
    /// Waiting for an earlier turn of the same queue or sender.
    WaitingForTurn = "waiting_for_turn", Wait;
    /// The turn was ended by a stop command.
    Stopped = "stopped", Drop;
    /// The turn was cancelled by the gateway or an operator.
    Cancelled = "cancelled", Drop;
    /// The turn took longer than its limit.
    TurnTimeout = "turn_timeout", Failure;
    /// The turn ended with an error of the gateway.
    TurnFailed = "turn_failed", Failure;
    /// The provider said "too many requests".
    ModelRateLimited = "model_rate_limited", Retry;
    /// No model of the list gave an answer.
    ModelFailed = "model_failed", Failure;
    /// A request to a model is made again after an error.
    ModelRetried = "model_retried", Retry;
    /// The next model of the list is used after an error.
    ModelFellBack = "model_fell_back", Retry;
    /// The model stopped at its token limit.
    AnswerTruncated = "answer_truncated", Change;
    /// The model or the provider's filter refused to answer.
    AnswerRefused = "answer_refused", Refusal;
    /// The model answered with nothing.
    AnswerEmpty = "answer_empty", Failure;
    /// A tool that the model called does not run: it is not there, not allowed, or called wrongly.
    ToolRefused = "tool_refused", Refusal;
    /// A tool gave nothing; the model was told.
    ToolFailed = "tool_failed", Change;
    /// A tool took longer than its limit; the model was told.
    ToolTimeout = "tool_timeout", Change;
    /// A call of a tool is made again after a failure.
    ToolRetried = "tool_retried", Retry;
    /// The turn made as many steps or calls as it may; the model answers with what it has.
    ToolLimit = "tool_limit", Change;
    /// The model made the same call again and again; it answers with what it has.
    ToolLoop = "tool_loop", Change;
    /// What a tool gave was too long and was cut.
    ToolResultCut = "tool_result_cut", Change;
    /// A tool that is not safe to repeat was running when the gateway ended; it is not run again.
    ToolUnsure = "tool_unsure", Failure;
    /// A tool runs only when somebody has said yes; the turn goes on then.
    ToolAsked = "tool_asked", Wait;
    /// What the model said of its calls cannot be used; none was run.
    ToolCallsBroken = "tool_calls_broken", Retry;
    /// Older history was left out, because the context is full.
    ContextCut = "context_cut", Change;
    /// A model's summary took the place of older history.
    ContextSummarised = "context_summarised", Change;
    /// There was no summary; the history stays as it is.
    SummaryFailed = "summary_failed", Retry;
    /// A model found something in a conversation that is worth remembering.
    Remembered = "remembered", Change;
    /// A conversation was not looked through, or the memory did not answer.
    MemoryFailed = "memory_failed", Failure;
    /// Stored history that no model would have taken was left out or mended.
    HistoryRepaired = "history_repaired", Change;
    /// What must be said to the model is more than it takes.
    ContextOverflow = "context_overflow", Refusal;
    /// Too many attempts crashed or failed on it; it is set aside for an operator.
    Quarantined = "quarantined", Failure;
    /// The sender's role does not include this.
    PermissionDenied = "permission_denied", Refusal;
    /// The sender is blocked in the conversation.
    Blocked = "blocked", Refusal;
    /// The conversation's policy switches the model off.
    AnswersOff = "answers_off", Refusal;
    /// The conversation's policy takes no pictures, voice and files.
    MediaOff = "media_off", Refusal;
    /// A file is over the size that is kept; the answer says so.
    MediaTooLarge = "media_too_large", Change;
    /// A file could not be fetched or kept; the answer says so.
    MediaFailed = "media_failed", Change;
    /// A model refused the files of a request and was given the words alone.
    MediaRefused = "media_refused", Change;
    /// The conversation's policy takes no commands.
    CommandsOff = "commands_off", Refusal;
    /// More than the conversation's policy allows in a minute.
    TooMany = "too_many", Refusal;
    /// The tokens of today are used up.
    TokenBudget = "token_budget", Refusal;
    /// A partner who answers each answer is not answered for a while.
    BotLoop = "bot_loop", Drop;
    /// A stranger whom no owner has let in yet.
    NotPaired = "not_paired", Refusal;
    /// The platform did not do what was asked for a member.
    ModerationFailed = "moderation_failed", Refusal;
    /// It is not known whether the platform did what was asked for a member.
    ModerationUnknown = "moderation_unknown", Failure;
    /// What somebody answered was settled before, or its time was over.
    PendingClosed = "pending_closed", Refusal;
    /// Nobody answered a question in time; what it asked for is not done.
    PendingExpired = "pending_expired", Drop;
    /// What is kept of the conversation was deleted, and this with it.
    ConversationDeleted = "conversation_deleted", Drop;
    /// There is no command of this name.
    UnknownCommand = "unknown_command", Refusal;
    /// The arguments of a command or tool are not valid.
    BadArguments = "bad_arguments", Refusal;
    /// It reads like an attempt to take over the model and was not passed on.
    InjectionBlocked = "injection_blocked", Refusal;
    /// A task came from this gateway itself through other agents, or through too many of them.
    AgentLoop = "agent_loop", Refusal;
    /// What reads like an attempt to take over the model was taken out.
    InjectionSanitised = "injection_sanitised", Change;
    /// It reads like an attempt to take over the model; the model was warned.
    InjectionWarned = "injection_warned", Change;
    /// A word of the blocklist stands in it for which messages are not answered.
    ContentBlocked = "content_blocked", Refusal;
    /// A word of the blocklist was taken out.
    ContentFiltered = "content_filtered", Change;
    /// A secret was replaced by the placeholder.
    Redacted = "redacted", Change;
    /// A send is tried again after an error.
    SendRetried = "send_retried", Retry;
    /// The platform asked to wait before the next send.
    SendRateLimited = "send_rate_limited", Retry;
    /// It is not known whether the platform took the part.
    SendUnknown = "send_unknown", Failure;
    /// The platform did not take the part, after all attempts.
    SendFailed = "send_failed", Failure;
    /// The platform does not let the bot write there.
    SendForbidden = "send_forbidden", Failure;
    /// The chat, user or message does not exist any more.
    SendGone = "send_gone", Failure;
    /// A reply waited longer than its greatest age.
    ReplyExpired = "reply_expired", Failure;
    /// A whole reply that had not begun made room in a full outbox.
    ReplyDropped = "reply_dropped", Failure;
    /// The platform refused the markup; the part was sent plain.
    FormattedPlain = "formatted_plain", Change;
    /// The answer was too long for messages and went out as a file.
    SentAsFile = "sent_as_file", Change;
    /// The platform did not take a file; the words were sent in its place.
    FileAsText = "file_as_text", Change;
    /// The platform did not take a file as what it is; it was sent as something plainer.
    FilePlainer = "file_plainer", Change;
    /// The answer was cut into several messages by the platform's limit.
    SplitForLimit = "split_for_limit", Change;
    /// The platform allows only so many messages in reply; the end of the answer was left out, and it says so.
    ReplyBudget = "reply_budget", Change;
    /// A preview of a stream was left out in favour of final texts.
    StreamShed = "stream_shed", Change;
    /// The store did not answer in time or is full.
    StoreUnavailable = "store_unavailable", Failure;
    /// The gateway is shutting down and takes nothing new.
    ShuttingDown = "shutting_down", Refusal;
    /// Found unfinished at start and taken up again.
    Recovered = "recovered", Retry;
    /// Was being sent when the process ended; sent again.
    Resent = "resent", Retry;
}

impl Reason {
    /// Position in [`Reason::ALL`]: for arrays in memory only. It changes between versions.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests;
