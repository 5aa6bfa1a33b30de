import { agentRows } from './heal-rows-agent.ts'
import { fileRows } from './heal-rows-files.ts'
import { machineRows } from './heal-rows-machine.ts'
import { networkRows } from './heal-rows-network.ts'
import { operatorRows } from './heal-rows-operator.ts'
import { processRows } from './heal-rows-process.ts'
import type { HealRow } from './heal-row.ts'

/**
 * All faults. A complete run takes an hour and a half, half of it for processes that are killed or hang, five
 * times each.
 */
export const healRows: readonly HealRow[] = [
  ...processRows,
  ...fileRows,
  ...agentRows,
  ...networkRows,
  ...operatorRows,
  ...machineRows,
]
