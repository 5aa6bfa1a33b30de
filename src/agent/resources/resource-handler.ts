import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { Ledger, LedgerResource } from '../../contract/ledger.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { OpTarget } from '../../contract/op.ts'
import type { Secret } from '../../pki/secret.ts'
import type { Host } from '../host/host.ts'
import type { UnitState } from '../host/service-manager.ts'
import type { EmitRunEvent } from '../records/run-op.ts'

export type ManagedResource<T extends OpTarget> = Extract<LedgerResource, { target: T }>
/** Ledger fields that every resource has. */
export type ResourceHeader = Pick<LedgerResource, 'name' | 'digest' | 'owners'>

/** State of a resource compared with its ledger entry. */
export type ResourceObservation =
  | 'absent'
  | 'as-written'
  | {
      readonly drift: string
      /** True if the resource is as recorded and only has to be renewed. */
      readonly due?: boolean
    }

/** Context of an inspection. Without a plan, checks against the plan are skipped. */
export interface InspectContext<H extends Host = Host> {
  readonly host: H
  readonly ledger: Ledger
  readonly plan?: NodePlan
  /** True if all certificates must be renewed, including valid ones. */
  readonly renew?: boolean
  /** Digests of images in the container runtime, keyed by name. They are queried once for all images. */
  readonly images?: ReadonlyMap<string, string> | undefined
}

/** Context for making a resource. */
export interface MakeContext<H extends Host = Host> extends InspectContext<H> {
  readonly plan: NodePlan
  readonly component: ComponentPlan
  readonly head: ResourceHeader
  readonly secrets: ReadonlyMap<string, Secret>
  /** Certificates as PEM, keyed by the path of the certificate file. */
  readonly certificates: ReadonlyMap<string, string>
  /**
   * States of new services before the first op of the run, keyed by name. They are queried once, because each
   * query starts a program.
   */
  readonly newUnits?: ReadonlyMap<string, UnitState> | undefined
  readonly emit: EmitRunEvent
  readonly signal: AbortSignal
}

export interface MakeResult<T extends OpTarget> {
  /** False if the resource was already as planned. */
  readonly changed: boolean
  readonly resource: ManagedResource<T>
}

export interface RemoveResult {
  readonly changed: boolean
  /** Paths of data directories that stay on the host. */
  readonly retained: readonly string[]
  /** Paths that are still in use. Their ledger entry stays, and a later run removes them. */
  readonly inUse?: readonly string[]
}

/** Inspects, makes and removes one kind of resource. Every method is idempotent. */
export interface ResourceHandler<T extends OpTarget, Spec, H extends Host = Host> {
  readonly target: T
  /** Finds the spec of a named resource in the plan of a component. */
  findSpec(component: ComponentPlan, name: string): Spec | undefined
  inspect(resource: ManagedResource<T>, context: InspectContext<H>): Promise<ResourceObservation>
  /**
   * Returns the ledger entry with the original state of the resource. The entry is saved before the first
   * change, so that a later run can restore the original state after an interruption.
   */
  recordBefore?(spec: Spec, context: MakeContext<H>): Promise<ManagedResource<T> | undefined>
  /**
   * Changes the resource only if it differs from the spec. `previous` is its ledger entry, which this or an
   * earlier plan wrote.
   */
  make(spec: Spec, context: MakeContext<H>, previous: ManagedResource<T> | undefined): Promise<MakeResult<T>>
  remove(resource: ManagedResource<T>, context: InspectContext<H>): Promise<RemoveResult>
}

/** A handler for ledger entries whose resource kind is known only at run time. */
export interface AnyResourceHandler {
  inspect(resource: LedgerResource, context: InspectContext): Promise<ResourceObservation>
  recordBefore(context: MakeContext): Promise<LedgerResource | undefined>
  make(
    context: MakeContext,
    previous: LedgerResource | undefined,
  ): Promise<{ readonly changed: boolean; readonly resource: LedgerResource }>
  remove(resource: LedgerResource, context: InspectContext): Promise<RemoveResult>
}

/** Wraps the handler of a resource kind that every operating system has. */
export function handlerForAnyHost<T extends OpTarget, Spec>(
  handler: ResourceHandler<T, Spec>,
): AnyResourceHandler {
  return handlerForOs(handler, (host) => host)
}

/** Wraps the handler of a resource kind that only one operating system has. */
export function handlerForOs<T extends OpTarget, Spec, H extends Host>(
  handler: ResourceHandler<T, Spec, H>,
  toHost: (host: Host) => H,
): AnyResourceHandler {
  const toInspectContext = (context: InspectContext): InspectContext<H> => ({
    ...context,
    host: toHost(context.host),
  })
  const toMakeContext = (context: MakeContext): MakeContext<H> => ({ ...context, host: toHost(context.host) })
  const isOfKind = (resource: LedgerResource): resource is ManagedResource<T> =>
    resource.target === handler.target
  const requireKind = (resource: LedgerResource): ManagedResource<T> => {
    if (isOfKind(resource)) return resource
    throw new Error(`${resource.target} ${resource.name} is not a ${handler.target}`)
  }
  const requireSpec = ({ component, head }: MakeContext): Spec => {
    const spec = handler.findSpec(component, head.name)
    if (spec !== undefined) return spec
    throw new Error(`the plan of ${component.name} has no ${handler.target} ${head.name}`)
  }
  return {
    inspect: async (resource, context) => handler.inspect(requireKind(resource), toInspectContext(context)),
    recordBefore: async (context) => handler.recordBefore?.(requireSpec(context), toMakeContext(context)),
    make: async (context, previous) =>
      handler.make(requireSpec(context), toMakeContext(context), previous && requireKind(previous)),
    remove: async (resource, context) => handler.remove(requireKind(resource), toInspectContext(context)),
  }
}

export const wasRemoved: RemoveResult = { changed: true, retained: [] }
export const wasAbsent: RemoveResult = { changed: false, retained: [] }
