/** The extensions this client understands; the pages about them are in `spec/`. */
export const TASK_CONTROL = 'urn:lull:a2a:task-control:1'
export const REMINDERS = 'urn:lull:a2a:reminders:1'
export const USER_CONSENT = 'urn:lull:a2a:user-consent:1'
export const STREAMS = 'urn:lull:a2a:streams:1'
export const PROGRESS = 'urn:lull:a2a:progress:1'
/** 0.3 only, where some changes of reminders have no other frame. */
export const RFC_NOTIFICATIONS = 'urn:lull:a2a:rfc-notifications:1'
