import type { Systemd } from './systemd.ts'

/** Operations that every service manager supports, with systemd's terms. */
export type HostServiceManager = Pick<
  Systemd,
  'reload' | 'show' | 'showAll' | 'enable' | 'start' | 'restart' | 'stop' | 'kill' | 'lines'
>
