import { z } from 'zod'
import { nodeRoles } from '../../src/agent/windows-worker/worker.ts'
import { faultNames } from './simulator/faults.ts'

/**
 * A command from a test to a simulated host, sent as one line of JSON. JSON cannot be confused with a Windows
 * command line.
 */
const testCommandSchema = z.discriminatedUnion('lab', [
  /** Reads all state that a reset must restore. */
  z.strictObject({ lab: z.literal('summarize') }),
  z.strictObject({ lab: z.literal('remove-rule'), name: z.string() }),
  /** Injects a fault into a service of the simulator. */
  z.strictObject({ lab: z.literal('inflict'), name: z.enum(faultNames), role: z.enum(nodeRoles) }),
])
export type TestCommand = z.infer<typeof testCommandSchema>

export function formatTestCommand(command: string, [name, role]: readonly string[]): string {
  const options = { ...(name === undefined ? {} : { name }), ...(role === undefined ? {} : { role }) }
  return JSON.stringify(testCommandSchema.parse({ lab: command, ...options }))
}

/** Parses a test command. Returns undefined if the line is not a test command. */
export function parseTestCommand(line: string): TestCommand | undefined {
  return line.startsWith('{') ? testCommandSchema.parse(JSON.parse(line)) : undefined
}
