import type { Event } from '../../contract/event.ts'

export type Told = Event['what']

/** Tells of a run. The component it is about, if any, is said beside. */
export type Emit = (what: Told, component?: string) => void
