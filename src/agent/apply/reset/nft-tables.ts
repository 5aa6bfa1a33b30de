import type { Step } from './linux-leftover-step.ts'

/** Tables of nftables. */
export const removeTables: Step = async ({ packets }, { tables }) => {
  const ours = (await packets.tables()).filter(({ name }) => tables.includes(name))
  for (const table of ours) await packets.removeTable(table)
  return ours.map(({ family, name }) => `${family} ${name}`)
}
