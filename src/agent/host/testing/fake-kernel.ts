import { formatSetting, type Kernel } from '../host.ts'

/** For tests: a fake kernel with the given settings. */
export function createFakeKernel(settings: Readonly<Record<string, string>> = {}): Kernel & {
  readonly settings: Map<string, string>
  readonly modules: Set<string>
} {
  const values = new Map(Object.entries(settings))
  const modules = new Set<string>()
  return {
    settings: values,
    modules,
    isLoaded: async (module) => modules.has(module),
    load: async (module) => void modules.add(module),
    readSetting: async (name) => values.get(name),
    writeSetting: async (name, value) => {
      if (!values.has(name)) throw new Error(`there is no setting ${name}`)
      values.set(name, formatSetting(value))
    },
  }
}
