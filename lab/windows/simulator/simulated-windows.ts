import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../../src/kit/errors.ts'
import { type Clock, systemClock } from '../../../src/agent/host/clock.ts'
import { hostCommand } from '../../../src/agent/host/command.ts'
import type { Fetch } from '../../../src/agent/host/downloader.ts'
import type { WindowsHost } from '../../../src/agent/host/host.ts'
import { windowsLayout } from '../../../src/agent/host/layout.ts'
import { runningRelease } from '../../../src/agent/host/running-release.ts'
import { systemTar } from '../../../src/agent/host/system-tar.ts'
import { systemAlone } from '../../../src/agent/host/users.ts'
import { windowsFiles } from '../../../src/agent/windows/host/windows-files.ts'
import { scmServices } from '../../../src/agent/windows/scm/scm-services.ts'
import { directoryFiles, type Marks, windowsPlace } from './files/directory-files.ts'
import { epoch } from './instant.ts'
import { lockedFiles } from './locked-files.ts'
import type { Machine } from './machine.ts'
import { machineFrom, savedMachine } from './machine-state.ts'
import { newMachine } from './new-machine.ts'
import { simulatedHands } from './simulated-worker-deps.ts'
import { type SimulatedHost, simulatedHost } from './simulated-host.ts'
import { simulatedImages } from './simulated-images.ts'
import { advance } from './time.ts'

export interface SimulatedWindowsWish {
  /** A directory of this machine in which C: is a directory; what else there is to know of the host lies beside it. */
  readonly root: string
  /** Where all of ours is on the host. */
  readonly base?: string
  readonly name?: string
  readonly address?: string
  readonly gateway?: string
  /** Files of the world, for a host whose files are at such places. */
  readonly fetch: (place: (path: string) => string) => Fetch
  /** Of hyperkube, and the file that it is. */
  readonly version: string
  readonly executable: string
  /** `simulated`: time passes only while somebody waits. `real`: as it does everywhere. */
  readonly time: 'simulated' | 'real'
}

export interface SimulatedWindows extends Omit<SimulatedHost, 'host'> {
  /** For apply, and for whoever works with it. */
  readonly host: WindowsHost
  /** Where a path of the host is on this machine. */
  readonly place: (path: string) => string
  /** For the next process: what is not in files. */
  save(): Promise<void>
}

/** Beside its drives. */
export const stateFile = 'machine.json'

/** A Windows host without Windows whose files are real ones: the one that was saved there, or a new one. */
export async function simulatedWindows(wish: SimulatedWindowsWish): Promise<SimulatedWindows> {
  const { root, base = String.raw`C:\hyperkube`, version, executable } = wish
  await mkdir(join(root, 'C:'), { recursive: true })
  const marks: Marks = new Map()
  const filesWith = (known: Marks) => {
    for (const [id, mark] of known) marks.set(id, mark)
    return directoryFiles(root, marks)
  }
  const file = join(root, stateFile)
  const saved = await savedText(file)
  const { name, address, gateway } = wish
  const machine =
    saved === undefined
      ? newMachine(new Map(), {
          files: filesWith(new Map()),
          ...(name === undefined ? {} : { name }),
          ...(address === undefined ? {} : { address }),
          ...(gateway === undefined ? {} : { gateway }),
        })
      : machineFrom(JSON.parse(saved), filesWith)
  const passed = wish.time === 'real' ? realTime(machine) : () => undefined
  const simulated = simulatedHost(machine, passed)
  const place = windowsPlace(root)
  const layout = windowsLayout(base)
  const files = lockedFiles(machine, windowsFiles(place, simulated.host.files))
  const clock = wish.time === 'real' ? systemClock : machineClock(machine)
  const operations = simulated.host
  const host: WindowsHost = {
    os: 'windows',
    layout,
    files,
    users: systemAlone,
    operations,
    services: scmServices({ operations, layout, files, clock }),
    worker: simulatedHands(machine),
    fetch: wish.fetch(place),
    tar: systemTar(place, hostCommand),
    images: simulatedImages(machine),
    clock,
    release: runningRelease(version, place, executable),
  }
  return {
    ...simulated,
    host,
    place,
    async save() {
      const text = `${JSON.stringify(savedMachine(machine, marks))}\n`
      await writeFile(`${file}.new`, text)
      await rename(`${file}.new`, file)
    },
  }
}

async function savedText(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  })
}

/** Its time goes on while somebody waits. */
function machineClock(machine: Machine): Clock {
  return {
    now: () => new Date(epoch + machine.time),
    async pause(milliseconds, signal) {
      signal.throwIfAborted()
      advance(machine, milliseconds)
    },
  }
}

/** Whenever it is asked something, so much has passed as it has for everybody. */
function realTime(machine: Machine): () => void {
  let last = Date.now()
  return () => {
    const now = Date.now()
    advance(machine, now - last)
    last = now
  }
}
