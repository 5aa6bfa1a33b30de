import type { Event } from '../../contract/event.ts'

export type RunEventBody = Event['body']

/** Emits an event of a run. `component` names the component that the event concerns. */
export type EmitRunEvent = (what: RunEventBody, component?: string) => void
