/** What of the kernel is set while it runs; what keeps it so over a reboot is in files. */
export interface Kernel {
  isLoaded(module: string): Promise<boolean>
  load(module: string): Promise<void>
  /** Nothing when the kernel has no such setting. */
  readSetting(name: string): Promise<string | undefined>
  writeSetting(name: string, value: string): Promise<void>
}

/** As sysctl shows a value of several numbers, whatever stands between them. */
export function settingText(value: string): string {
  return value.trim().split(/\s+/).join(' ')
}
