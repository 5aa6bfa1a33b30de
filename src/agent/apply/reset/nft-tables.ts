import type { LinuxLeftoverStep } from './leftover-step.ts'

/** Removes the nftables tables that hyperkube's services created. */
export const removeNftTables: LinuxLeftoverStep = async ({ packets }, { tables }) => {
  const ownTables = (await packets.tables()).filter(({ name }) => tables.includes(name))
  for (const table of ownTables) await packets.removeTable(table)
  return ownTables.map(({ family, name }) => `${family} ${name}`)
}
