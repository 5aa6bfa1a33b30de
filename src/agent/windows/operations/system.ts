import { z } from 'zod'
import { timestamp, defineRead, noInput, atMostOne } from './operation.ts'

const description = z
  .object({
    ComputerName: z.string(),
    CurrentBuildNumber: z.string().regex(/^\d+$/),
    UBR: z.int(),
    EditionID: z.string(),
    InstallationType: z.string(),
    LastBootUpTime: timestamp,
    MachineGuid: z.string().min(1),
    ContainersFeature: z.boolean(),
    HyperVFeature: z.boolean(),
    RebootPending: z.boolean(),
    Administrator: z.boolean(),
    PSVersion: z.string(),
  })
  .transform((raw) => ({
    hostname: raw.ComputerName.toLowerCase(),
    build: Number(raw.CurrentBuildNumber),
    revision: raw.UBR,
    edition: raw.EditionID,
    installation: raw.InstallationType,
    bootedAt: raw.LastBootUpTime,
    machineId: raw.MachineGuid.toLowerCase(),
    containersFeature: raw.ContainersFeature,
    hyperVFeature: raw.HyperVFeature,
    rebootPending: raw.RebootPending,
    administrator: raw.Administrator,
    powershell: raw.PSVersion,
  }))

export const systemOperations = {
  describe: defineRead({
    name: 'system.describe',
    input: noInput,
    output: atMostOne(description),
    uses: ['Get-ItemProperty', 'Get-CimInstance', 'Get-WindowsFeature', 'Test-Path'],
  }),
}
