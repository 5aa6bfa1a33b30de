/** Modules and settings of the running kernel. Files keep them across reboots. */
export interface Kernel {
  isLoaded(module: string): Promise<boolean>
  load(module: string): Promise<void>
  /** Undefined if the kernel has no such setting. */
  readSetting(name: string): Promise<string | undefined>
  writeSetting(name: string, value: string): Promise<void>
}

/** Formats a value of several numbers as sysctl does, whatever separates them. */
export function formatSetting(value: string): string {
  return value.trim().split(/\s+/).join(' ')
}
