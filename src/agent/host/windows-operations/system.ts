import { z } from 'zod'
import { atMostOne, defineChange, defineRead, noInput, timestamp, windowsPath } from './operation.ts'

const name = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,100}$/)

/**
 * Operations on the system-wide environment variables of a Windows host. Services see a change only after the
 * next boot.
 */
export const environmentOperations = {
  get: defineRead({
    name: 'environment.get',
    input: z.strictObject({ name }),
    output: atMostOne(z.object({ Value: z.string() }).transform(({ Value }) => Value)),
    uses: ['[Environment]::GetEnvironmentVariable'],
  }),
  /** Sets a variable, or removes it if the value is null. */
  set: defineChange({
    name: 'environment.set',
    input: z.strictObject({ name, value: z.string().min(1).max(30_000).nullable() }),
    uses: ['[Environment]::SetEnvironmentVariable'],
  }),
}

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

const hostProcess = z
  .object({
    ProcessId: z.int(),
    ParentProcessId: z.int(),
    ExecutablePath: z.string(),
    CreationDate: timestamp,
  })
  .transform((raw) => ({
    id: raw.ProcessId,
    parent: raw.ParentProcessId,
    program: raw.ExecutablePath,
    startedAt: raw.CreationDate,
  }))
export type WindowsProcess = z.output<typeof hostProcess>

export const processOperations = {
  /**
   * Lists processes whose program is below a directory. A name is not enough, because other software may also
   * run a kubelet.exe.
   */
  list: defineRead({
    name: 'processes.list',
    input: z.strictObject({ below: windowsPath }),
    output: z.array(hostProcess),
    uses: ['Get-CimInstance'],
  }),
  /**
   * Ends exactly the observed process: process ids are reused, so program and start time must match too. A
   * process that has ended is not an error.
   */
  end: defineChange({
    name: 'processes.end',
    input: z.strictObject({ id: z.int().min(5), program: windowsPath, startedAt: timestamp }),
    uses: ['Get-CimInstance', 'Stop-Process'],
  }),
}
