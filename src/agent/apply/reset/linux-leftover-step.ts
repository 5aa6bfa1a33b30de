import type { LinuxHost } from '../../host/host.ts'
import type { Leftovers } from './leftovers.ts'

/** Takes one kind of leftover away and answers with what was there of it. Harmless when done twice. */
export type Step = (host: LinuxHost, leftovers: Leftovers, signal: AbortSignal) => Promise<readonly string[]>
