import { z } from 'zod'
import { defineChange, timestamp, defineRead, windowsPath } from './operation.ts'

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
