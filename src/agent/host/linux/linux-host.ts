import { readFile } from 'node:fs/promises'
import { systemClock } from '../clock.ts'
import { type RunCommand, runHostCommand } from '../command.ts'
import { createCtrImages } from '../ctr-images.ts'
import type { LinuxHost, UserIds, Users } from '../host.ts'
import { createHttpDownloader } from '../downloader.ts'
import { linuxLayout } from '../layout.ts'
import { createRunningRelease } from '../running-release.ts'
import { createPathMapper } from '../local-files.ts'
import { createDocker } from './docker.ts'
import { createLinuxFiles } from './linux-files.ts'
import {
  createLinuxCgroups,
  createLinuxKernel,
  createLinuxMounts,
  createLinuxPackets,
  createLinuxProcesses,
} from './linux-kernel.ts'
import { createSystemTar } from './system-tar.ts'
import { createSystemd } from './systemd.ts'

/**
 * Creates the interfaces to the machine on which this process runs; needs root. `version` is the version of
 * this program.
 */
export function createLinuxHost(version: string): LinuxHost {
  const toLocalPath = createPathMapper('/')
  return {
    os: 'linux',
    layout: linuxLayout,
    files: createLinuxFiles(toLocalPath),
    users: createLinuxUsers(runHostCommand),
    kernel: createLinuxKernel(runHostCommand),
    services: createSystemd(runHostCommand),
    fetch: createHttpDownloader(toLocalPath, systemClock),
    tar: createSystemTar(toLocalPath, runHostCommand),
    images: createCtrImages(toLocalPath, runHostCommand),
    processes: createLinuxProcesses(),
    mounts: createLinuxMounts(runHostCommand),
    packets: createLinuxPackets(runHostCommand),
    cgroups: createLinuxCgroups(),
    docker: createDocker(runHostCommand),
    clock: systemClock,
    release: createRunningRelease(version, toLocalPath),
  }
}

function createLinuxUsers(command: RunCommand): Users {
  return {
    async find(name) {
      // Most users are in /etc/passwd. For other users the program getent must be started.
      const local = parseUserIds(await readFile('/etc/passwd', 'utf8'), name)
      if (local !== undefined) return local
      // Exit code 2: the user does not exist.
      const { stdout } = await command(['getent', 'passwd', '--', name], { codes: [0, 2] })
      return parseUserIds(stdout, name)
    },
    async create(name) {
      // A group of this name may remain from an earlier user. The new user then gets this group.
      const { code } = await command(['getent', 'group', '--', name], { codes: [0, 2] })
      const group = code === 0 ? `--gid=${name}` : '--user-group'
      const options = ['--system', group, '--no-create-home', '--home-dir=/nonexistent']
      await command(['useradd', ...options, '--shell=/usr/sbin/nologin', '--', name])
    },
    async remove(name) {
      // Exit code 6: the user does not exist any more.
      await command(['userdel', '--', name], { codes: [0, 6] })
    },
  }
}

/** Finds the ids of a user in text with the format of /etc/passwd. */
function parseUserIds(text: string, user: string): UserIds | undefined {
  const lines = text.split('\n').map((line) => line.split(':'))
  const [, , uid, gid] = lines.find(([name]) => name === user) ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}
