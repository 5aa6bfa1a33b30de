/** Modules and settings of the running kernel. Configuration files restore them after a boot. */
export interface Kernel {
  isLoaded(module: string): Promise<boolean>
  load(module: string): Promise<void>
  /** Returns the value of a setting; undefined if the kernel does not have the setting. */
  readSetting(name: string): Promise<string | undefined>
  writeSetting(name: string, value: string): Promise<void>
}

/** Normalizes the white space in a value, because sysctl separates several numbers with tabs or spaces. */
export function formatSetting(value: string): string {
  return value.trim().split(/\s+/).join(' ')
}
