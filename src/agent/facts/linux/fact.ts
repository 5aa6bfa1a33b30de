import type { Facts } from '../../../contract/facts.ts'
import type { FactSource } from '../source.ts'

export type LinuxFacts = Extract<Facts['system'], { os: 'linux' }>

/** Reads one field of the facts. */
export type Fact<Field extends keyof LinuxFacts> = (source: FactSource) => Promise<LinuxFacts[Field]>
