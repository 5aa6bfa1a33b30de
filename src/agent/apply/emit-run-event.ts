import type { Event } from '../../contract/event.ts'

export type RunEventBody = Event['body']

/** Emits an event of a run, with the component that it concerns, if any. */
export type EmitRunEvent = (what: RunEventBody, component?: string) => void
