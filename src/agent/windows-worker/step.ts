import type { WindowsProcess } from '../host/windows-operations/system.ts'
import type { WorkerRole, WorkerSpec } from './worker.ts'

/** One change to a host. Every step can be repeated safely after a failed or interrupted attempt. */
export type ReconcileStep =
  | { readonly do: 'allow'; readonly rule: string }
  | {
      readonly do: 'route'
      readonly destination: string
      readonly nextHop: string
      readonly interfaceIndex: number
    }
  /** Writes a complete copy of a program to its staging path. */
  | { readonly do: 'fetch'; readonly role: WorkerRole }
  | { readonly do: 'move'; readonly from: string; readonly to: string }
  | { readonly do: 'discard'; readonly path: string }
  | { readonly do: 'put'; readonly role: WorkerRole }
  | { readonly do: 'start-hns' }
  | { readonly do: 'start'; readonly role: WorkerRole; readonly basis: string }
  | { readonly do: 'stop'; readonly role: WorkerRole }
  /** Ends a process that does not stop, or a process whose wrapper has ended. */
  | { readonly do: 'end'; readonly role: WorkerRole; readonly process: WindowsProcess; readonly why: string }
  | { readonly do: 'hold'; readonly adapter: string }
  | { readonly do: 'drop-network'; readonly id: string; readonly name: string }
  | { readonly do: 'reserve'; readonly subnet: string }
  | { readonly do: 'release' }
  /**
   * Restarts apiserver-proxy because a program does not start. This opens the connections to the API again.
   */
  | { readonly do: 'reopen'; readonly role: WorkerRole }
  /** Changes nothing. It only reports that all starts of a series failed. */
  | { readonly do: 'give-up'; readonly role: WorkerRole }

/** Returns a key for what a step does. Steps with the same key count as attempts of one step. */
export function formatStepKey(step: ReconcileStep): string {
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

/** Returns the name of the component that a step belongs to. Steps of the pod network belong to flanneld. */
export function findStepComponent(step: ReconcileStep, spec: WorkerSpec): string {
  switch (step.do) {
    case 'allow':
    case 'route':
      return 'host'
    case 'move':
    case 'discard':
      return findProgramOwner(step.do === 'move' ? step.to : step.path, spec) ?? 'host'
    case 'fetch':
    case 'put':
    case 'start':
    case 'stop':
    case 'end':
    case 'give-up':
      return step.role
    case 'reopen':
      return 'apiserver-proxy'
    case 'start-hns':
    case 'hold':
    case 'drop-network':
      return 'flanneld'
    default:
      return 'kube-proxy'
  }
}

function findProgramOwner(path: string, { services }: WorkerSpec): string | undefined {
  return Object.entries(services).find(([, { program }]) => path.startsWith(program.path))?.[0]
}
