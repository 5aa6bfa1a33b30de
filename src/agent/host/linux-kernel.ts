import { readFile, writeFile } from 'node:fs/promises'
import { release } from 'node:os'
import { fileExists } from '../../kit/files.ts'
import { hasCode } from '../../kit/errors.ts'
import type { RunCommand } from './command.ts'
import { type Kernel, formatSetting } from './kernel.ts'

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

function settingPath(setting: string): string {
  return `/proc/sys/${setting.replaceAll('.', '/')}`
}

async function isBuiltIn(module: string): Promise<boolean> {
  const list = await readFile(`/lib/modules/${release()}/modules.builtin`, 'utf8').catch(() => '')
  const name = module.replaceAll('-', '_')
  return list.split('\n').some((line) => (line.split('/').at(-1) ?? '').replaceAll('-', '_') === `${name}.ko`)
}
