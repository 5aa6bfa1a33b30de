import type { AdoptionSource } from '../../identity/identity.ts'

/** `prevents`: the cluster cannot be adopted as it is. The others say what an adoption does. */
export const adoptionVerdicts = ['kept', 'changed', 'lost', 'prevents'] as const
export type AdoptionVerdict = (typeof adoptionVerdicts)[number]

/** One line of the report. */
export interface AdoptionItem {
  readonly verdict: AdoptionVerdict
  readonly code: string
  readonly message: string
  readonly host?: string
  /** What to do next. Every item that prevents the adoption has it. */
  readonly next?: string
}

export interface AdoptionReport {
  readonly from: AdoptionSource
  readonly cluster: string
  readonly kubernetes: string | undefined
  readonly hosts: readonly AdoptionHostRow[]
  readonly items: readonly AdoptionItem[]
}

/** A host as the report shows it. */
export interface AdoptionHostRow {
  readonly name: string
  readonly address: string
  readonly node: string
  readonly roles: readonly string[]
  readonly kubelet: string | undefined
  readonly runtime: string | undefined
  readonly system: string
}

export function prevents(code: string, message: string, next: string, host?: string): AdoptionItem {
  return { verdict: 'prevents', code, message, ...(host === undefined ? {} : { host }), next }
}

export function lost(code: string, message: string, next: string): AdoptionItem {
  return { verdict: 'lost', code, message, next }
}

/** True if something prevents the adoption. */
export function isPrevented({ items }: Pick<AdoptionReport, 'items'>): boolean {
  return items.some(({ verdict }) => verdict === 'prevents')
}
