//! What each frame means for the connection and its streams.

use super::block::Block;
use super::frame::{ACK, Frame, PING, SETTINGS};
use super::session::{Content, LARGEST};
use super::{
    ENABLE_PUSH, Event, Http2, INITIAL_WINDOW_SIZE, LONGEST_BLOCK, MAX_CONCURRENT_STREAMS,
    MAX_FRAME_SIZE, Session, block, frame, wanted,
};
use crate::fault::ErrorKind;
use crate::payload::PayloadCheck;
use crate::protocols::http::head::error_of;

impl Http2 {
    /// Takes the next piece of `rest`: content, or one frame, or what there is of it.
    pub(super) fn take(
        &mut self,
        session: &mut Session,
        rest: &mut &[u8],
        now_ns: u64,
    ) -> Result<Event, ErrorKind> {
        if session.content.open {
            return Ok(self.take_content(session, rest));
        }
        if session.kept.is_empty() {
            let Some((frame, taken)) = frame::next(rest)? else {
                session.kept.extend_from_slice(rest);
                *rest = &[];
                return Ok(Event::Nothing);
            };
            *rest = &rest[taken..];
            return self.take_frame(session, &frame, now_ns);
        }
        let wanted = wanted(&session.kept) - session.kept.len();
        let (more, behind) = rest.split_at(wanted.min(rest.len()));
        *rest = behind;
        let mut kept = std::mem::take(&mut session.kept);
        kept.extend_from_slice(more);
        let event = match frame::next(&kept)? {
            None => {
                session.kept = kept;
                return Ok(Event::Nothing);
            }
            Some((frame, _)) => self.take_frame(session, &frame, now_ns),
        };
        kept.clear();
        session.kept = kept;
        event
    }

    fn take_content(&mut self, session: &mut Session, rest: &mut &[u8]) -> Event {
        let content = &mut session.content;
        let slot = &mut session.slots[content.slot];
        let (part, behind) = rest.split_at((content.bytes as usize).min(rest.len()));
        content.bytes -= part.len() as u32;
        if let Some(check) = &mut slot.check {
            check.feed(part);
        }
        let padding = (content.padding_bytes as usize).min(behind.len());
        content.padding_bytes -= padding as u32;
        *rest = &behind[padding..];
        if content.bytes > 0 || content.padding_bytes > 0 {
            return Event::Nothing;
        }
        content.open = false;
        if !content.end_stream {
            return Event::Nothing;
        }
        let index = content.slot;
        self.end_stream(session, index)
    }

    fn take_frame(
        &mut self,
        session: &mut Session,
        frame: &Frame<'_>,
        now_ns: u64,
    ) -> Result<Event, ErrorKind> {
        if !may_come(session, frame) {
            return Err(ErrorKind::BadProtocol);
        }
        match *frame {
            Frame::Data {
                stream,
                content_bytes,
                padding_bytes,
                flow_bytes,
                end_stream,
            } => {
                let slot = session.slot_of(stream)?.ok_or(ErrorKind::BadProtocol)?;
                session.content = Content {
                    slot,
                    bytes: content_bytes,
                    padding_bytes,
                    end_stream,
                    open: true,
                };
                self.begin_content(session, flow_bytes)
            }
            Frame::Headers { .. } => self.take_headers(session, frame, now_ns),
            Frame::Reset { stream } => match session.slot_of(stream)? {
                // After a whole reply it only says that the rest of the request is not wanted.
                None => Ok(Event::Nothing),
                Some(slot) => Ok(Event::Over(slot, Err(ErrorKind::H2Rst))),
            },
            Frame::Settings { ack, entries } => self.take_settings(session, ack, entries),
            Frame::Ping { ack, data } => {
                if !ack {
                    frame::write_head(8, PING, ACK, 0, &mut session.owed);
                    session.owed.extend_from_slice(&data);
                }
                Ok(Event::Nothing)
            }
            Frame::Goaway { last_stream } => take_goaway(session, last_stream),
            Frame::WindowUpdate { stream, increment } => {
                session.widen(stream, increment)?;
                session.send_bodies(&self.requests.body);
                Ok(Event::Nothing)
            }
            Frame::Ignored { .. } => Ok(Event::Nothing),
        }
    }

    /// A DATA frame has begun; it may be empty.
    fn begin_content(
        &mut self,
        session: &mut Session,
        flow_bytes: u32,
    ) -> Result<Event, ErrorKind> {
        let content = session.content;
        session.use_credit(content.slot, flow_bytes)?;
        let slot = &mut session.slots[content.slot];
        slot.received_bytes += u64::from(content.bytes);
        let too_much = slot
            .declared_bytes
            .is_some_and(|declared| slot.received_bytes > declared);
        if !slot.answered || too_much {
            return Err(ErrorKind::BadProtocol);
        }
        Ok(self.take_content(session, &mut &[][..]))
    }

    fn take_headers(
        &mut self,
        session: &mut Session,
        frame: &Frame<'_>,
        now_ns: u64,
    ) -> Result<Event, ErrorKind> {
        let Frame::Headers {
            stream,
            fragment,
            end_headers,
            end_stream,
            ..
        } = *frame
        else {
            return Err(ErrorKind::BadProtocol);
        };
        let Some((first, ends)) = session.continuing else {
            if end_headers {
                return self.take_block(session, stream, fragment, end_stream, now_ns);
            }
            session.continuing = Some((stream, end_stream));
            session.block.clear();
            session.block.extend_from_slice(fragment);
            return Ok(Event::Nothing);
        };
        if first != stream || session.block.len() + fragment.len() > LONGEST_BLOCK {
            return Err(ErrorKind::BadProtocol);
        }
        session.block.extend_from_slice(fragment);
        if !end_headers {
            return Ok(Event::Nothing);
        }
        session.continuing = None;
        let block = std::mem::take(&mut session.block);
        let event = self.take_block(session, stream, &block, ends, now_ns);
        session.block = block;
        event
    }

    /// A whole header block: the head of a reply, an interim one, or trailers.
    fn take_block(
        &mut self,
        session: &mut Session,
        stream: u32,
        bytes: &[u8],
        end_stream: bool,
        now_ns: u64,
    ) -> Result<Event, ErrorKind> {
        let index = session.slot_of(stream)?.ok_or(ErrorKind::BadProtocol)?;
        let block = self.read_block(bytes)?;
        let slot = &mut session.slots[index];
        if slot.first_byte_ns == 0 {
            slot.first_byte_ns = now_ns;
        }
        match block.status {
            None if slot.answered && end_stream => {}
            Some(status) if !slot.answered => {
                slot.error = error_of(status)?;
                if status < 200 {
                    let whole = !end_stream;
                    return whole
                        .then_some(Event::Nothing)
                        .ok_or(ErrorKind::BadProtocol);
                }
                slot.answered = true;
                let bodiless = self.bodiless || status == 204 || status == 304;
                slot.declared_bytes = if bodiless {
                    Some(0)
                } else {
                    block.content_length
                };
                if self.verifier.is_some() {
                    slot.check = Some(Box::new(PayloadCheck::body(block.marker)));
                }
            }
            _ => return Err(ErrorKind::BadProtocol),
        }
        if end_stream {
            return Ok(self.end_stream(session, index));
        }
        Ok(Event::Nothing)
    }

    /// What a block says, by memory or by reading it.
    fn read_block(&mut self, bytes: &[u8]) -> Result<Block, ErrorKind> {
        if !self.strict && !bytes.is_empty() && bytes == self.learned {
            return Ok(self.known);
        }
        let block = block::read(bytes, &mut self.scratch)?;
        if !self.strict {
            self.learned.clear();
            self.learned.extend_from_slice(bytes);
            self.known = block;
        }
        Ok(block)
    }

    /// The reply in slot `index` is whole: judges it.
    fn end_stream(&mut self, session: &mut Session, index: usize) -> Event {
        let slot = &session.slots[index];
        let cut = slot
            .declared_bytes
            .is_some_and(|declared| declared != slot.received_bytes);
        let outcome = match (slot.error, cut, &mut self.verifier, &slot.check) {
            (Some(error), ..) => Err(error),
            (None, true, ..) => Err(ErrorKind::BadProtocol),
            (None, false, Some(verifier), Some(check)) => {
                verifier.judge(session.place, slot.asked.sequence, check)
            }
            _ => Ok(()),
        };
        Event::Over(index, outcome)
    }

    fn take_settings(
        &mut self,
        session: &mut Session,
        ack: bool,
        entries: &[u8],
    ) -> Result<Event, ErrorKind> {
        for entry in entries.as_chunks::<6>().0 {
            let name = u16::from_be_bytes([entry[0], entry[1]]);
            let value = u32::from_be_bytes([entry[2], entry[3], entry[4], entry[5]]);
            match name {
                MAX_CONCURRENT_STREAMS => session.most_streams = value,
                INITIAL_WINDOW_SIZE if value <= LARGEST => session.set_initial(value)?,
                MAX_FRAME_SIZE if (16_384..=16_777_215).contains(&value) => {}
                ENABLE_PUSH if value == 0 => {}
                INITIAL_WINDOW_SIZE | MAX_FRAME_SIZE | ENABLE_PUSH => {
                    return Err(ErrorKind::BadProtocol);
                }
                _ => {}
            }
        }
        session.greeting.settings = true;
        session.greeting.ack |= ack;
        if !ack {
            frame::write_head(0, SETTINGS, ACK, 0, &mut session.owed);
            session.send_bodies(&self.requests.body);
        }
        // A server that allows no stream at first is waited for.
        if session.greeting.ack && !session.greeting.over && session.most_streams > 0 {
            session.greeting.over = true;
            return Ok(Event::Ready);
        }
        Ok(Event::Nothing)
    }
}

/// The server begins with its settings, and nothing comes between the parts of a header block.
fn may_come(session: &Session, frame: &Frame<'_>) -> bool {
    let first = !session.greeting.settings;
    if first && !matches!(frame, Frame::Settings { ack: false, .. }) {
        return false;
    }
    let continues = matches!(
        frame,
        Frame::Headers {
            continued: true,
            ..
        }
    );
    continues == session.continuing.is_some()
}

fn take_goaway(session: &mut Session, last_stream: u32) -> Result<Event, ErrorKind> {
    session.goaway = Some(last_stream);
    match (session.survivors(), session.busy) {
        (0, 0) => Ok(Event::Finished),
        (0, _) => Err(ErrorKind::H2Goaway),
        _ => Ok(Event::Nothing),
    }
}
