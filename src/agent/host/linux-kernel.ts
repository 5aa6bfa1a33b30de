import { readFile, writeFile } from 'node:fs/promises'
import { release } from 'node:os'
import { exists } from '../../kit/files.ts'
import { hasCode } from '../../kit/errors.ts'
import type { Command } from './command.ts'
import { type Kernel, settingText } from './kernel.ts'

export function linuxKernel(command: Command): Kernel {
  return {
    isLoaded: async (module) =>
      (await exists(`/sys/module/${module.replaceAll('-', '_')}`)) || (await isBuiltIn(module)),
    async load(module) {
      await command(['modprobe', '--', module])
    },
    async readSetting(name) {
      try {
        return settingText(await readFile(fileOf(name), 'utf8'))
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return undefined
        throw error
      }
    },
    writeSetting: async (name, value) => writeFile(fileOf(name), `${value}\n`),
  }
}

function fileOf(setting: string): string {
  return `/proc/sys/${setting.replaceAll('.', '/')}`
}

async function isBuiltIn(module: string): Promise<boolean> {
  const list = await readFile(`/lib/modules/${release()}/modules.builtin`, 'utf8').catch(() => '')
  const name = module.replaceAll('-', '_')
  return list.split('\n').some((line) => (line.split('/').at(-1) ?? '').replaceAll('-', '_') === `${name}.ko`)
}
