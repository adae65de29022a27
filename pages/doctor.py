"""Doctor: is the machine this app runs on in order, and if not, what to do."""

from elimipl_app.doctor import show_findings, start_doctor_page

start_doctor_page()
show_findings()
