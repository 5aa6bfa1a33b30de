import type { Facts } from '../../../contract/facts.ts'
import type { FactSource } from '../source.ts'

export type LinuxFacts = Extract<Facts['system'], { os: 'linux' }>

/** How one field of the facts is found. What a text means is decided by a pure function beside it. */
export type Fact<Field extends keyof LinuxFacts> = (source: FactSource) => Promise<LinuxFacts[Field]>
