import type { Metrics } from '../kit/metrics.ts'

/** Registers process metrics under the standard exporter names. */
export function registerProcessMetrics(metrics: Metrics): void {
  metrics.gauges('process_resident_memory_bytes', 'Memory of the process.', () => [
    [{}, process.memoryUsage.rss()],
  ])
  const readCpuSeconds = (): number => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
  metrics.gauges(
    'process_cpu_seconds_total',
    'CPU time of the process.',
    () => [[{}, readCpuSeconds()]],
    'counter',
  )
  metrics.gauges('process_start_time_seconds', 'Start time of the process.', () => [
    [{}, Math.round(Date.now() / 1000 - process.uptime())],
  ])
}
