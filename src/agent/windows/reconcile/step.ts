import type { HostProcess } from '../operations/processes.ts'
import type { Role } from './worker-spec.ts'

/** One thing to do to a host. Each can be done again, whatever became of it the first time. */
export type Step =
  | { readonly do: 'allow'; readonly rule: string }
  | {
      readonly do: 'route'
      readonly destination: string
      readonly nextHop: string
      readonly interfaceIndex: number
    }
  /** Brings a whole copy of a program to where it waits. */
  | { readonly do: 'fetch'; readonly role: Role }
  | { readonly do: 'move'; readonly from: string; readonly to: string }
  | { readonly do: 'discard'; readonly path: string }
  | { readonly do: 'put'; readonly role: Role }
  | { readonly do: 'start-hns' }
  | { readonly do: 'start'; readonly role: Role; readonly basis: string }
  | { readonly do: 'stop'; readonly role: Role }
  /** A process of a service that does not obey, or that its runner has left. */
  | { readonly do: 'end'; readonly role: Role; readonly process: HostProcess; readonly why: string }
  | { readonly do: 'hold'; readonly adapter: string }
  | { readonly do: 'drop-network'; readonly id: string; readonly name: string }
  | { readonly do: 'reserve'; readonly subnet: string }
  | { readonly do: 'release' }
  /** Closes the way to the API for the sake of a program that does not come up: it is opened anew at once. */
  | { readonly do: 'reopen'; readonly role: Role }
  /** Only said: all starts of a row were in vain. */
  | { readonly do: 'give-up'; readonly role: Role }

/** What a step does to what: two with the same words are the same thing tried again. */
export function subjectOf(step: Step): string {
  switch (step.do) {
    case 'allow':
      return `allow ${step.rule}`
    case 'route':
      return `route ${step.destination}`
    case 'move':
      return `move ${step.from}`
    case 'discard':
      return `discard ${step.path}`
    case 'fetch':
    case 'put':
    case 'start':
    case 'stop':
    case 'reopen':
    case 'give-up':
    case 'end':
      return `${step.do} ${step.role}`
    case 'drop-network':
      return `drop-network ${step.name}`
    default:
      return step.do
  }
}
