import type { Systemd } from './systemd.ts'

/** What any supervisor of a host can be asked, in the words of systemd. */
export type Services = Pick<
  Systemd,
  'reload' | 'show' | 'showAll' | 'enable' | 'start' | 'restart' | 'stop' | 'kill' | 'lines'
>
