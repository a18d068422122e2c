//! `karman devices`

use crate::console;
use crate::failure::Failure;
use karman::backend::available_devices;

pub(crate) fn run(json: bool) -> Result<(), Failure> {
    let devices = available_devices();
    if json {
        return console::print_json(&devices);
    }
    let lines: Vec<String> =
        devices.iter().map(|device| format!("{:<8} {}", device.backend, device.name)).collect();
    console::print(&lines.join("\n"))
}
