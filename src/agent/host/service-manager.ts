import type { Systemd } from './systemd.ts'

/** Operations that systemd and the Windows service manager both support, with systemd's names. */
export type HostServiceManager = Pick<
  Systemd,
  'reload' | 'show' | 'showAll' | 'enable' | 'start' | 'restart' | 'stop' | 'kill' | 'lines'
>
