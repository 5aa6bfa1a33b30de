import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../../src/agent/host/clock.ts'
import { runHostCommand } from '../../../src/agent/host/command.ts'
import { systemUserOnly, type WindowsHost } from '../../../src/agent/host/host.ts'
import type { Downloader } from '../../../src/agent/host/downloader.ts'
import { windowsLayout } from '../../../src/agent/host/layout.ts'
import { createSystemTar } from '../../../src/agent/host/linux/system-tar.ts'
import { createRunningRelease } from '../../../src/agent/host/running-release.ts'
import { createServiceControlManager } from '../../../src/agent/host/windows/service-control-manager.ts'
import { windowsFiles } from '../../../src/agent/host/windows/windows-files.ts'
import { hasCode } from '../../../src/kit/errors.ts'
import { createLocalPathMapper, directoryFiles, type Marks } from './files/directory-files.ts'
import { epoch } from './instant.ts'
import { lockedFiles } from './locked-files.ts'
import { restoreMachine, toSavedMachine } from './machine-state.ts'
import type { Machine } from './machine.ts'
import { newMachine } from './new-machine.ts'
import { type SimulatedHost, simulatedHost } from './simulated-host.ts'
import { simulatedImages } from './simulated-images.ts'
import { simulatedWorkerDeps } from './simulated-worker-deps.ts'
import { advance } from './time.ts'

export interface SimulatedWindowsOptions {
  /** Local directory that contains the directory C: and the saved machine state. */
  readonly root: string
  /** Base directory of hyperkube on the host. */
  readonly base?: string
  readonly name?: string
  readonly address?: string
  readonly gateway?: string
  /** Creates the downloader. `toLocalPath` maps host paths to local paths. */
  readonly fetch: (toLocalPath: (path: string) => string) => Downloader
  /** Version of hyperkube on the host. */
  readonly version: string
  readonly executable: string
  /**
   * With `simulated`, time advances only when the clock's `pause` is called. With `real`, it follows the
   * system clock.
   */
  readonly time: 'simulated' | 'real'
}

export interface SimulatedWindows extends Omit<SimulatedHost, 'host'> {
  /** Interface of the host for apply and the agent. */
  readonly host: WindowsHost
  /** Maps a path of the host to a local path. */
  readonly toLocalPath: (path: string) => string
  /** Saves all state except files, for the next process. */
  save(): Promise<void>
}

/** File name of the saved machine state, in the root directory. */
export const stateFile = 'machine.json'

/** Opens a simulated Windows host with real files. Restores the saved state if there is one. */
export async function simulatedWindows(options: SimulatedWindowsOptions): Promise<SimulatedWindows> {
  const { root, base = String.raw`C:\hyperkube`, version, executable } = options
  await mkdir(join(root, 'C:'), { recursive: true })
  const marks: Marks = new Map()
  const filesWith = (known: Marks) => {
    for (const [id, mark] of known) marks.set(id, mark)
    return directoryFiles(root, marks)
  }
  const file = join(root, stateFile)
  const saved = await readSavedText(file)
  const { name, address, gateway } = options
  const machine =
    saved === undefined
      ? newMachine(new Map(), {
          files: filesWith(new Map()),
          ...(name === undefined ? {} : { name }),
          ...(address === undefined ? {} : { address }),
          ...(gateway === undefined ? {} : { gateway }),
        })
      : restoreMachine(JSON.parse(saved), filesWith)
  const passTime = options.time === 'real' ? createRealTime(machine) : () => undefined
  const simulated = simulatedHost(machine, passTime)
  const toLocalPath = createLocalPathMapper(root)
  const layout = windowsLayout(base)
  const files = lockedFiles(machine, windowsFiles(toLocalPath, simulated.host.files))
  const clock = options.time === 'real' ? systemClock : machineClock(machine)
  const operations = simulated.host
  const host: WindowsHost = {
    os: 'windows',
    layout,
    files,
    users: systemUserOnly,
    operations,
    services: createServiceControlManager({ operations, layout, files, clock }),
    worker: simulatedWorkerDeps(machine),
    fetch: options.fetch(toLocalPath),
    tar: createSystemTar(toLocalPath, runHostCommand),
    images: simulatedImages(machine),
    clock,
    release: createRunningRelease(version, toLocalPath, executable),
  }
  return {
    ...simulated,
    host,
    toLocalPath,
    async save() {
      const text = `${JSON.stringify(toSavedMachine(machine, marks))}\n`
      await writeFile(`${file}.new`, text)
      await rename(`${file}.new`, file)
    },
  }
}

async function readSavedText(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  })
}

/** Returns a clock that advances only when `pause` is called. */
function machineClock(machine: Machine): Clock {
  return {
    now: () => new Date(epoch + machine.time),
    async pause(milliseconds, signal) {
      signal.throwIfAborted()
      advance(machine, milliseconds)
    },
  }
}

/** Returns a function that advances the machine by the real time since the previous call of this function. */
function createRealTime(machine: Machine): () => void {
  let last = Date.now()
  return () => {
    const now = Date.now()
    advance(machine, now - last)
    last = now
  }
}
