import { readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { release } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { hasCode } from '../../../kit/errors.ts'
import { fileExists } from '../../../kit/files.ts'
import type { RunCommand } from '../command.ts'
import {
  type Cgroups,
  formatSetting,
  type HostProcess,
  type Kernel,
  type Mounts,
  type NetworkLink,
  type Packets,
  type PacketTable,
  type Processes,
} from '../host.ts'

export function createLinuxKernel(command: RunCommand): Kernel {
  return {
    isLoaded: async (module) =>
      (await fileExists(`/sys/module/${module.replaceAll('-', '_')}`)) || (await isBuiltIn(module)),
    async load(module) {
      await command(['modprobe', '--', module])
    },
    async readSetting(name) {
      try {
        return formatSetting(await readFile(settingPath(name), 'utf8'))
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return undefined
        throw error
      }
    },
    writeSetting: async (name, value) => writeFile(settingPath(name), `${value}\n`),
  }
}

/** Returns the path of a setting. As in sysctl.d(5), dots of a name with slashes are no separators. */
function settingPath(setting: string): string {
  return `/proc/sys/${setting.includes('/') ? setting : setting.replaceAll('.', '/')}`
}

async function isBuiltIn(module: string): Promise<boolean> {
  const list = await readFile(`/lib/modules/${release()}/modules.builtin`, 'utf8').catch(() => '')
  const name = module.replaceAll('-', '_')
  return list.split('\n').some((line) => (line.split('/').at(-1) ?? '').replaceAll('-', '_') === `${name}.ko`)
}

const root = '/sys/fs/cgroup'

export function createLinuxCgroups(): Cgroups {
  return {
    async remove(name) {
      // cgroup version 2 has one hierarchy at the root. Version 1 has one hierarchy per controller, in
      // directories below the root.
      const hierarchies = [root, ...(await listDirectories(root))]
      const paths = hierarchies.map((hierarchy) => join(hierarchy, name))
      const removed: string[] = []
      for (const path of paths) {
        if (await fileExists(path)) await removeTree(path)
        else continue
        if (!(await fileExists(path))) removed.push(path)
      }
      return removed
    },
  }
}

/**
 * Removes a cgroup and its children with rmdir, because the kernel's files in them cannot be deleted. A
 * cgroup that is in use stays.
 */
async function removeTree(path: string): Promise<void> {
  for (const child of await listDirectories(path)) await removeTree(child)
  await rmdir(path).catch(() => undefined)
}

async function listDirectories(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name))
}

export function createLinuxMounts(command: RunCommand): Mounts {
  const list = async (): Promise<string[]> => parseMountPoints(await readFile('/proc/self/mountinfo', 'utf8'))
  return {
    list,
    async unmount(path) {
      // Exit code 32: the mount is in use, or it disappeared together with another one, for example if a
      // directory is mounted over itself.
      const { code } = await command(['umount', '--', path], { codes: [0, 32] })
      if (code === 0 || !(await list()).includes(path)) return
      await command(['umount', '--lazy', '--', path])
    },
  }
}

/** Parses /proc/self/mountinfo. The latest mounts come first, because they may cover earlier ones. */
export function parseMountPoints(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map((path) =>
      path.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 8))),
    )
    .toReversed()
}

export function createLinuxProcesses(): Processes {
  return {
    async list() {
      const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
      // Processes that end before they are read are skipped.
      const found = await Promise.all(names.map(async (name) => readProcess(name).catch(() => undefined)))
      return found.filter((one) => one !== undefined)
    },
    async kill(pid) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch (error) {
        if (!hasCode(error, 'ESRCH')) throw error
      }
    },
  }
}

async function readProcess(name: string): Promise<HostProcess> {
  const [stat, cmdline] = await Promise.all(
    ['stat', 'cmdline'].map(async (file) => readFile(`/proc/${name}/${file}`, 'utf8')),
  )
  // The second field is the program name in parentheses. The name may itself contain spaces and parentheses,
  // so parsing starts after the last parenthesis.
  const [, parent = '0'] = (stat ?? '').slice((stat ?? '').lastIndexOf(')') + 2).split(' ')
  return { pid: Number(name), parent: Number(parent), argv: (cmdline ?? '').split('\0').slice(0, -1) }
}

const listing = z.object({
  nftables: z.array(
    z.looseObject({
      table: z.object({ family: z.string(), name: z.string() }).optional(),
      chain: z.object({ hook: z.string().optional(), policy: z.string().optional() }).optional(),
    }),
  ),
})

export function createLinuxPackets(command: RunCommand): Packets {
  /**
   * Runs a program. Returns an empty text if the program is not installed. In that case nothing on the host
   * was created with it.
   */
  const runIfPresent = async (argv: readonly [string, ...string[]]): Promise<string> =>
    command(argv).then(
      ({ stdout }) => stdout,
      (error: unknown) => {
        if (hasCode(error, 'COMMAND_NOT_RUN')) return ''
        throw error
      },
    )
  const nft = async (...args: readonly string[]) =>
    listing.parse(JSON.parse((await runIfPresent(['nft', '-j', ...args])) || '{"nftables":[]}')).nftables
  const iptables = (version: 4 | 6): string => (version === 4 ? 'iptables' : 'ip6tables')
  return {
    async links() {
      const text = await runIfPresent(['ip', '-o', 'link', 'show'])
      return text.split('\n').flatMap(parseLink)
    },
    async removeLink(name) {
      // Exit code 1: the link does not exist any more.
      await command(['ip', 'link', 'delete', name], { codes: [0, 1] })
    },
    async removeRoutes(protocol) {
      const removed: string[] = []
      for (const family of ['-4', '-6']) {
        const text = await runIfPresent(['ip', family, 'route', 'show', 'proto', String(protocol)])
        const routes = text.split('\n').filter((line) => line.trim() !== '')
        if (routes.length > 0) await command(['ip', family, 'route', 'flush', 'proto', String(protocol)])
        removed.push(...routes.map((route) => route.trim()))
      }
      return removed
    },
    tables: async () =>
      (await nft('list', 'tables')).flatMap(({ table }): PacketTable[] => (table ? [table] : [])),
    async removeTable({ family, name }) {
      await command(['nft', 'delete', 'table', family, name])
    },
    async isEmpty({ family, name }) {
      const parts = await nft('list', 'table', family, name)
      return parts.every(
        ({ chain, ...part }) => isHeading(part) || (chain?.hook !== undefined && chain.policy === 'accept'),
      )
    },
    rules: async (version) => runIfPresent([`${iptables(version)}-save`]),
    async changeRules(version, text) {
      await command([`${iptables(version)}-restore`, '--noflush', '--wait=5'], { input: text })
    },
    async sets() {
      const text = await runIfPresent(['ipset', 'list', '-name'])
      return text.split('\n').filter((name) => name !== '')
    },
    async removeSet(name) {
      // Exit code 1: the set is still in use, or does not exist any more.
      await command(['ipset', 'destroy', name], { codes: [0, 1] })
    },
  }
}

function isHeading(part: Readonly<Record<string, unknown>>): boolean {
  return 'metainfo' in part || 'table' in part
}

/** Parses a line of `ip -o link show`. Other lines have no link. */
function parseLink(line: string): NetworkLink[] {
  const name = /^\d+: ([^:@]+)[:@]/.exec(line)?.[1]
  return name === undefined ? [] : [{ name, bridge: / master (\S+) /.exec(line)?.[1] }]
}
